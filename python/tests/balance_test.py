# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""A sequence that a function of the user's cuts."""

import pytest
from cut import to_and_fro
from ringcheck import balancing
from ringcheck.refused import Refused
from runs import findings, judged
from runs import ringcheck as command


def test_runs_are_the_positions():
    for world in (1, 2, 3):
        for shard in balancing.shards(to_and_fro, 24 * world, world):
            assert [begin + i * step for begin, count, step in balancing.spans(shard) for i in range(count)] == shard


def test_the_next_length_that_is_cut():
    assert balancing.nearest(to_and_fro, 9, 2, False, None) == 16
    assert balancing.nearest(to_and_fro, 9, 2, False, 15) == 8
    assert balancing.nearest("headtail", 60, 8, False, 40) == 32
    assert balancing.nearest("headtail", 60, 8, False, 8) == 60, "none is cut"


def test_a_cut_that_leaves_the_end_out_is_refused():
    with pytest.raises(Refused, match=r"^balance\(8, 2, rank\) gives 4 slots in all; want at least 8$"):
        balancing.shards(lambda length, world, rank: [2 * rank, 2 * rank + 1], 8, 2)


def test_it_is_judged_where_its_tokens_are():
    for case in judged("cut.py:right", ["own/causal/P2/hq2/hkv2/s48/float32", "own/full/P3/hq2/hkv2/s36/float32"]):
        assert case["verdict"] == "pass", findings(case)
    wrong, = judged("cut.py:positions_of_another_cut", ["own/causal/P2/hq2/hkv2/s48/float32"])
    assert wrong["verdict"] == "fail" and any("parity: " in one or "o: rank" in one for one in findings(wrong)), wrong


@pytest.mark.parametrize(("function", "said"), [("misses", "ranks 5 to 6 slots"), ("doubles", "the position 0 to two slots")])
def test_what_is_no_cut_is_refused_by_name(function, said):
    run = command("verify", "--case", f"subject:python[cut.py:{function}]/own/full/P2/hq2/hkv2/s12/float32")
    assert run.returncode == 2 and said in run.stderr, run.stderr
