# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that cut the sequence in ways of their own: pairs of tokens dealt to and fro, and cuts that are none."""

import ringcheck
import torch
from torch.distributed.nn.functional import all_gather


def to_and_fro(length, world, rank):
    if length % (4 * world):
        raise ValueError(f"{4 * world} does not divide {length}")
    turns = range(length // (2 * world))
    firsts = (2 * (turn * world + (rank if turn % 2 == 0 else world - 1 - rank)) for turn in turns)
    return [token for first in firsts for token in (first, first + 1)]


def missing_a_token(length, world, rank):
    return [token for token in range(rank, length, world) if token != 5]


def giving_one_twice(length, world, rank):
    return [0, *range(rank + world, length, world)]


def attention(q, k, v, case, group, cut):
    k, v = torch.cat(all_gather(torch.stack((k, v)), group), dim=3)
    there = torch.tensor([position for rank in range(case.world) for position in cut(case.seq, case.world, rank)])
    scores = q @ k.mT * case.scale
    if case.mask == "causal":
        scores = scores.masked_fill(there > case.positions[:, None], float("-inf"))
    return torch.softmax(scores, -1) @ v


@ringcheck.subject(balance=to_and_fro, masks=["full", "causal"], longest=4096)
def right(q, k, v, *, case, group):
    return attention(q, k, v, case, group, to_and_fro)


@ringcheck.subject(balance=to_and_fro, masks=["causal"], longest=4096)
def positions_of_another_cut(q, k, v, *, case, group):
    return attention(q, k, v, case, group, lambda length, world, rank: range(rank, length, world))


@ringcheck.subject(balance=missing_a_token)
def misses(q, k, v, *, case, group):
    return q


@ringcheck.subject(balance=giving_one_twice)
def doubles(q, k, v, *, case, group):
    return q
