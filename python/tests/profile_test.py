# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What a profile asks of a function that does not take all of it."""

import re

from runs import ringcheck


def cases(subject):
    run = ringcheck("verify", "--profile", "smoke", "--subject", subject, "--list")
    assert run.returncode == 0, run.stderr
    return [line for line in run.stdout.splitlines() if "/seed" in line]


def lengths(subject):
    return [int(re.search(r"/s(\d+)/", case)[1]) for case in cases(subject)]


def test_a_long_case_of_a_narrow_window_is_shorter_where_everything_is_seen():
    assert max(lengths("ours")) > 32000
    asked = lengths("python[misbehaving.py:misbehaving]")  # causal
    assert len(asked) > 100 and 4000 < max(asked) < 9000, max(asked)


def test_sixteen_bits_have_eight_channels_where_nobody_knows_how_they_are_rounded():
    asked = cases("python[ring.py:ring]")
    few = {dtype: [case for case in asked if f"/{dtype}/" in case and re.search(r"/d[1-7]/", case)]
           for dtype in ("float32", "bf16")}
    assert few["float32"] and not few["bf16"]
    assert any("/bf16/" in case for case in asked)
