# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch 2.11.0, `torch.distributed.tensor.experimental.context_parallel`, on GPUs
(https://github.com/pytorch/pytorch/blob/v2.11.0/torch/distributed/tensor/experimental/_context_parallel/_attention.py):
`scaled_dot_product_attention` inside the context manager, with each of its three kernels. On a CPU the ring behind it
is judged by `pytorch_ring.py`, as the context manager has no rule for the CPU operator.

Full masks contiguous, causal ones head-tail or contiguous. A mask tensor raises in the ring, `enable_gqa` has no rule
there, and LSE is not returned. Channels that are no multiple of 8, which its kernels pad, raise in the backward pass. Gradients are taken inside the context, where their operators are the ring's as well.
"""

import torch
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor.experimental import _attention, context_parallel
from torch.distributed.tensor.experimental._context_parallel import _attention as ring
from torch.nn.attention import SDPBackend, sdpa_kernel

import ringcheck
from ringcheck.adapters.per_group import once_a_group


@once_a_group
def mesh_of(group, device):
    return DeviceMesh.from_group(group, device)


def attend(q, k, v, case, group, kernel):
    _attention.set_rotate_method("alltoall" if case.balance == "headtail" else "allgather")
    ring._cp_options.enable_load_balance = case.balance == "headtail"
    to_shard = torch.zeros(case.seq, device=q.device)  # the context wants a buffer; q, k and v are shards already
    with context_parallel(mesh_of(group, case.device), buffers=[to_shard], buffer_seq_dims=[0]), sdpa_kernel(kernel):
        o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=case.mask == "causal", scale=case.scale)
        dq, dk, dv = torch.autograd.grad(o, (q, k, v), case.d_o)
    return ringcheck.Result(o=o, dq=dq, dk=dk, dv=dv)


SUPPORTS = dict(devices=["cuda"], shows=["o", "dq", "dk", "dv"], dims=range(8, 129, 8))
CONTIGUOUS = dict(balance="contiguous", masks=["full", "causal"], **SUPPORTS)
BALANCED = dict(balance="headtail", masks=["causal"], **SUPPORTS)
HALF = ["bf16", "fp16"]


@ringcheck.subject(dtypes=HALF, **CONTIGUOUS)
def flash(q, k, v, *, case, group):
    return attend(q, k, v, case, group, SDPBackend.FLASH_ATTENTION)


@ringcheck.subject(dtypes=HALF, **BALANCED)
def flash_balanced(q, k, v, *, case, group):
    return attend(q, k, v, case, group, SDPBackend.FLASH_ATTENTION)


@ringcheck.subject(dtypes=[*HALF, "float32"], **CONTIGUOUS)
def efficient(q, k, v, *, case, group):
    return attend(q, k, v, case, group, SDPBackend.EFFICIENT_ATTENTION)


@ringcheck.subject(dtypes=[*HALF, "float32"], **BALANCED)
def efficient_balanced(q, k, v, *, case, group):
    return attend(q, k, v, case, group, SDPBackend.EFFICIENT_ATTENTION)


@ringcheck.subject(dtypes=HALF, **CONTIGUOUS)
def cudnn(q, k, v, *, case, group):
    return attend(q, k, v, case, group, SDPBackend.CUDNN_ATTENTION)


@ringcheck.subject(dtypes=HALF, **BALANCED)
def cudnn_balanced(q, k, v, *, case, group):
    return attend(q, k, v, case, group, SDPBackend.CUDNN_ATTENTION)
