#!/usr/bin/env python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""torchrun --standalone --nproc-per-node P bench/peers/pytorch.py --heads 32 --seq 8192,32768 --json FILE

PyTorch's own context parallelism (`torch.distributed.tensor.experimental.context_parallel`, head-tail, causal) over P
GPUs, and `scaled_dot_product_attention` on one of them, timed as ringcheck_scaling times ours, into a result of the
same form, which `ci/performance.py` puts into the same tables.
"""
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.experimental import _attention, context_parallel
from torch.nn import functional  # whose attention context_parallel replaces
from torch.nn.attention import SDPBackend, sdpa_kernel

import shards
import timed

KERNELS = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}


def attend(q, k, v):
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def of_one(parts, options, seq):
    if options.heads_alone:
        parts = {**parts, "alone": f"{options.heads_alone} of {options.heads} key heads"}
    problem = timed.tensors(options, seq, options.heads_alone)
    yield from timed.timed(attend, *problem, parts, options)
    if options.judged_heads > 0:
        yield from timed.errors(attend, shards.UNCUT, problem, parts, options)


def of_all(mesh, parts, options, seq):
    torch.cuda.empty_cache()
    positions = torch.arange(seq, device="cuda")  # it wants something to cut
    with context_parallel(mesh, buffers=[positions], buffer_seq_dims=[0], no_restore_buffers={positions}):
        yield from timed.timed(attend, *timed.own_shards(shards.HEADTAIL, options, seq), parts, options)
        if options.judged_heads > 0:
            yield from timed.errors(attend, shards.HEADTAIL, timed.tensors(options, seq), parts, options)


def measurements(options):
    world = dist.get_world_size()
    mesh = init_device_mesh("cuda", (world,))
    for seq in options.seq:
        for kernel in options.kernels:
            with sdpa_kernel(KERNELS[kernel]):
                parts = timed.parts_of(options, seq, subject="pytorch", kernel=kernel, devices="1", world="1")
                yield from of_one(parts, options, seq)
                for rotation in options.rotations if world > 1 else ():
                    _attention.set_rotate_method(rotation)
                    parts = timed.parts_of(options, seq, subject="pytorch context_parallel", kernel=kernel,
                                           balance="headtail", rotation=rotation, devices=str(world), world=str(world))
                    yield from of_all(mesh, parts, options, seq)


if __name__ == "__main__":
    parser = timed.parser(__doc__)
    parser.add_argument("--kernels", type=lambda text: text.split(","), default=list(KERNELS))
    parser.add_argument("--rotations", type=lambda text: text.split(","), default=["allgather", "alltoall"])
    timed.run("bench/peers/pytorch.py", parser.parse_args(), measurements)
