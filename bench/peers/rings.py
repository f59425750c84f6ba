#!/usr/bin/env python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""torchrun --standalone --nproc-per-node P bench/peers/rings.py --heads 32 --seq 8192,32768 --json FILE

The zigzag ring of ring-flash-attn (0.1.8), and Ulysses and the zigzag ring of yunchang (0.6.4), causal, over P GPUs,
timed as bench/peers/pytorch.py times PyTorch's. Packages that are not installed are left out, and named. Their kernel is
FlashAttention 2: of flash-attn, or, where that is not installed, of PyTorch (python/ringcheck/adapters/flash_on_gpu.py).
"""
import pathlib
import sys
import types

import torch.distributed as dist

import shards
import timed

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))
from ringcheck.adapters import ring_flash_attn, yunchang  # noqa: E402

GPU = types.SimpleNamespace(device="cuda")


def heads_last(attend):
    """A function of [batch, slots, heads, dim], of [batch, heads, slots, dim]."""
    return lambda *tensors: attend(*(x.transpose(1, 2) for x in tensors)).transpose(1, 2)


def zigzag_of_ring_flash_attn():
    package = ring_flash_attn.implementation(GPU)
    return heads_last(lambda q, k, v: package.zigzag_ring_flash_attn_func(q, k, v, causal=True))


def zigzag_of_yunchang():
    package = yunchang.implementation(GPU)
    package.set_seq_parallel_pg(1, dist.get_world_size(), dist.get_rank(), dist.get_world_size())
    layer = package.LongContextAttention(ring_impl_type="zigzag")
    return heads_last(lambda q, k, v: layer(q, k, v, causal=True))


def ulysses_of_yunchang():
    layer = yunchang.implementation(GPU).UlyssesAttention(dist.group.WORLD)
    return heads_last(lambda q, k, v: layer(q, k, v, causal=True))


# Who, in what way, how it is made, and the shards that it is for.
PEERS = [
    ("ring-flash-attn", "zigzag", zigzag_of_ring_flash_attn, shards.HEADTAIL),
    ("yunchang", "zigzag", zigzag_of_yunchang, shards.HEADTAIL),
    ("yunchang", "ulysses", ulysses_of_yunchang, shards.CONTIGUOUS),
]


def measurements(options):
    world = dist.get_world_size()
    for name, kind, make, cut in PEERS:
        try:
            attend = make()
        except ImportError as error:
            if dist.get_rank() == 0:
                print(f"{name} {kind}: left out: {error}", file=sys.stderr)
            continue
        for seq in options.seq:
            parts = timed.parts_of(options, seq, subject=name, rotation=kind, kernel="flash", devices=str(world),
                                   world=str(world))
            yield from timed.timed(attend, *timed.own_shards(cut, options, seq), parts, options)
            yield from timed.errors(attend, cut, timed.tensors(options, seq), parts, options)


if __name__ == "__main__":
    timed.run("bench/peers/rings.py", timed.parser(__doc__).parse_args(), measurements)
