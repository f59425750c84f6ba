# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that rotate q and k themselves are judged where they show both."""

import pytest
import ringcheck
from runs import findings, judged

CASE = "contiguous/causal/P2/b2/hq2/hkv2/s24/d8/float32/rope:half[10000]"


def test_positions_of_tokens_pass():
    case, = judged("rotary.py:by_tokens", [CASE])
    assert case["verdict"] == "pass", findings(case)


def test_positions_in_the_shard_fail():
    case, = judged("rotary.py:by_slots", [CASE])
    assert case["verdict"] == "fail" and any("rotated q: rank 1" in one for one in findings(case)), findings(case)


def test_what_does_not_show_them_is_refused_where_it_is_declared():
    with pytest.raises(ringcheck.Refused, match="want q and k in it"):
        ringcheck.subject(lambda q, k, v, *, case, group: q, rope=True)
