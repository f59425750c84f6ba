# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What torch.distributed carries is counted, byte for byte."""

import pytest
from runs import judged

CASE = "headtail/causal/P3/b1/hq4/hkv2/s96/d16/float32"
WORLD, KV_HEADS, SLOTS, DIM, FLOAT = 3, 2, 32, 16, 4
KV = 2 * KV_HEADS * SLOTS * DIM * FLOAT
RING = (WORLD - 1) * KV + (WORLD - 1) * KV + WORLD * KV  # in closed form

FILE = """
import torch
from torch import distributed
import ring, ringcheck

def more(moves):
    def function(q, k, v, *, case, group):
        moves(group)
        return ring.ring(q, k, v, case=case, group=group)
    return ringcheck.subject(function, balance="headtail", masks=["causal"], gqa=True, worlds=[3],
                             shows=["o", "lse", "dq", "dk", "dv"])

@more
def all_reduce(group):
    distributed.all_reduce(torch.zeros(1000), group=group)

@more
def all_reduce_of_two(group):
    two = distributed.new_group([1, 2])
    if group.rank() > 0:
        distributed.all_reduce(torch.zeros(1000), group=two)

@more
def rows_to_each(group):
    to, of = [[3 * group.rank() + peer + 1 for peer in range(3)], [3 * peer + group.rank() + 1 for peer in range(3)]]
    distributed.all_to_all_single(torch.zeros(sum(of), 10), torch.zeros(sum(to), 10), of, to, group=group)
"""

# Floats beyond those of the ring, by sender and receiver.
MORE = {"all_reduce": [[0, 1000, 1000], [1000, 0, 1000], [1000, 1000, 0]],
        "all_reduce_of_two": [[0, 0, 0], [0, 0, 1000], [0, 1000, 0]],
        "rows_to_each": [[0, 20, 30], [40, 0, 60], [70, 80, 0]]}


def check(subject, more):
    (case,) = judged(subject, [CASE])
    assert case["verdict"] == "pass", case["reason"]
    want = [[FLOAT * more[rank][peer] + RING * (peer == (rank + 1) % WORLD) for peer in range(WORLD)]
            for rank in range(WORLD)]
    assert [rank["sent_to"] for rank in case["ranks"]] == want
    assert [rank["received_from"] for rank in case["ranks"]] == [list(column) for column in zip(*want)]
    assert [rank["call"]["bytes_sent"] for rank in case["ranks"]] == [sum(row) for row in want]


def test_closed_form_of_the_ring():
    check("ring.py:ring", [[0] * WORLD] * WORLD)


@pytest.mark.parametrize("collective", MORE)
def test_collectives_are_booked_by_their_peers(collective, tmp_path):
    (tmp_path / "more.py").write_text(FILE, encoding="utf-8")
    check(f"{tmp_path}/more.py:{collective}", MORE[collective])
