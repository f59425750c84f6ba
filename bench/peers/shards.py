# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Head-tail shards [1, heads, slots, dim] of a sequence in 2P chunks: rank r has r and 2P - 1 - r."""
import torch
import torch.distributed as dist


def shard(x):
    """What this rank has."""
    chunks, rank = x.chunk(2 * dist.get_world_size(), dim=2), dist.get_rank()
    return torch.cat([chunks[rank], chunks[-1 - rank]], dim=2)


def whole(x):
    """All of it again, of the shards of all ranks."""
    shards = [torch.empty_like(x, memory_format=torch.contiguous_format) for _ in range(dist.get_world_size())]
    dist.all_gather(shards, x.contiguous())
    heads, tails = zip(*(one.chunk(2, dim=2) for one in shards))
    return torch.cat([*heads, *reversed(tails)], dim=2)
