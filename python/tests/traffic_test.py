# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What torch.distributed carries is counted, byte for byte."""

from runs import judged

CASE = "headtail/causal/P3/b1/hq4/hkv2/s96/d16/float32"
WORLD, KV_HEADS, SLOTS, DIM, FLOAT = 3, 2, 32, 16, 4

FILE = """
import torch
from torch import distributed
import ring, ringcheck

@ringcheck.subject(balance="headtail", masks=["causal"], gqa=True, shows=["o", "lse", "dq", "dk", "dv"])
def more(q, k, v, *, case, group):
    distributed.all_reduce(torch.zeros(1000), group=group)
    return ring.ring(q, k, v, case=case, group=group)
"""


def sent(subject):
    (case,) = judged(subject, [CASE])
    assert case["verdict"] == "pass", case["reason"]
    return [rank["call"]["bytes_sent"] for rank in case["ranks"]], [rank["sent_to"] for rank in case["ranks"]]


def test_closed_form_of_the_ring_and_an_all_reduce(tmp_path):
    kv = 2 * KV_HEADS * SLOTS * DIM * FLOAT
    closed = (WORLD - 1) * kv + (WORLD - 1) * kv + WORLD * kv
    totals, to = sent("ring.py:ring")
    assert totals == [closed] * WORLD
    for rank, row in enumerate(to):
        assert row[(rank + 1) % WORLD] == closed
        assert row[rank - 1] == 0
    (tmp_path / "more.py").write_text(FILE, encoding="utf-8")
    assert sent(f"{tmp_path}/more.py:more")[0] == [total + (WORLD - 1) * 1000 * FLOAT for total in totals]
