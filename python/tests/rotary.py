# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""A function that rotates q and k itself, by the positions of their tokens and by those in the shard."""

import ringcheck
import torch
from torch.distributed.nn.functional import all_gather


def rotated(x, positions):
    """Channels c and c + dim / 2 are a pair, as in rope:half[10000]."""
    half = x.shape[3] // 2
    frequencies = 10000 ** (-torch.arange(half, dtype=torch.float64) / half)
    angles = positions.to(torch.float64)[:, None] * frequencies
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), 3)


def attention(q, k, v, case, group, positions):
    q, k = rotated(q, positions), rotated(k, positions)
    slots = case.positions[:, None]
    there = torch.arange(case.world * k.shape[2])
    keys, values = torch.cat(all_gather(torch.stack((k, v)), group), dim=3)
    scores = (q @ keys.mT * case.scale).masked_fill(there > slots, float("-inf"))
    return ringcheck.Result(o=torch.softmax(scores, -1) @ values, q=q.detach(), k=k.detach())


declared = ringcheck.subject(balance="contiguous", masks="causal", rope=True, shows=["o", "dq", "dk", "dv", "q", "k"])


@declared
def by_tokens(q, k, v, *, case, group):
    return attention(q, k, v, case, group, case.positions)


@declared
def by_slots(q, k, v, *, case, group):
    return attention(q, k, v, case, group, torch.arange(q.shape[2]))
