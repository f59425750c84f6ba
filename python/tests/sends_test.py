# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What a function says that it sends is held against what torch.distributed carries."""

import extra_block
import pytest
import ring
import ringcheck

HELD = {"balance": "headtail", "masks": ["full"], "dtypes": ["float32"], "worlds": [3], "shows": ["o", "lse", "dq", "dk", "dv"]}


def to(step):
    def sends(case, rank):
        kv = 2 * case.batch * case.kv_heads * case.seq // case.world * case.dim * extra_block.FLOAT
        hops = 2 * (case.world - 1) + case.world  # K and V in both passes, and their gradients all the way round
        return [hops * kv if peer == (rank + step) % case.world else 0 for peer in range(case.world)]
    return sends


@ringcheck.subject(sends=to(1), **HELD)
def as_it_says(q, k, v, *, case, group):
    return ring.ring(q, k, v, case=case, group=group)


@ringcheck.subject(sends=to(-1), **HELD)
def the_other_way(q, k, v, *, case, group):
    return ring.ring(q, k, v, case=case, group=group)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_one_more_block_fails_counters(device):
    if device == "cuda" and extra_block.gpus() < 2:
        pytest.skip(f"NCCL takes a GPU a rank, 2 are needed, and there are {extra_block.gpus()}")
    extra_block.check(device)


def test_who_sends_and_who_receives_are_told_apart():
    right, wrong = (ringcheck.verify(function, world=3, dtype="float32", seq=96, oracles="returned,parity,counters")
                    for function in (as_it_says, the_other_way))
    assert right.passed, [str(one) for one in right.failures]
    (case,) = wrong.json["cases"]
    found = {oracle["name"]: oracle["findings"] for oracle in case["oracles"]}
    for rank in range(3):
        assert any(one.startswith(f"rank {rank} bytes sent to rank {(rank + 1) % 3}: ") and one.endswith("exactly 0")
                   for one in found["counters"]), found
    assert len(found["counters"]) == 3 * 4, found


def test_nonsense_is_refused():
    with pytest.raises(ringcheck.Refused, match=r"sends\(case, 0\) gives \[0\]; want bytes"):
        extra_block.judged(extra_block.says_nonsense, "cpu")
