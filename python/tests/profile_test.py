# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What a profile asks of a function that does not take all of it."""

import re

from runs import ringcheck


def lengths(subject):
    run = ringcheck("verify", "--profile", "smoke", "--subject", subject, "--list")
    assert run.returncode == 0, run.stderr
    return [int(seq) for seq in re.findall(r"/s(\d+)/", run.stdout)]


def test_a_long_case_of_a_narrow_window_is_shorter_where_everything_is_seen():
    assert max(lengths("ours")) > 32000
    asked = lengths("python[misbehaving.py:misbehaving]")  # causal
    assert len(asked) > 100 and 4000 < max(asked) < 9000, max(asked)
