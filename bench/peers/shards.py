# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""How a sequence [1, heads, seq, dim] is cut over P ranks, and put together again."""
import typing

import torch
import torch.distributed as dist


class Cut(typing.NamedTuple):
    shard: typing.Callable  # what this rank has of a tensor
    whole: typing.Callable  # all of it, of the shards of all ranks


def everybodys(x):
    """The shards of all ranks."""
    shards = [torch.empty_like(x, memory_format=torch.contiguous_format) for _ in range(dist.get_world_size())]
    dist.all_gather(shards, x.contiguous())
    return shards


def head_and_tail(x):
    chunks, rank = x.chunk(2 * dist.get_world_size(), dim=2), dist.get_rank()
    return torch.cat([chunks[rank], chunks[-1 - rank]], dim=2)


def of_heads_and_tails(x):
    heads, tails = zip(*(one.chunk(2, dim=2) for one in everybodys(x)))
    return torch.cat([*heads, *reversed(tails)], dim=2)


UNCUT = Cut(lambda x: x, lambda x: x)
CONTIGUOUS = Cut(lambda x: x.chunk(dist.get_world_size(), dim=2)[dist.get_rank()].contiguous(),
                 lambda x: torch.cat(everybodys(x), dim=2))
HEADTAIL = Cut(head_and_tail, of_heads_and_tails)  # in 2P chunks: rank r has r and 2P - 1 - r
