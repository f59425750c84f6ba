# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch 2.11.0, the ring behind `context_parallel`, on a CPU.

`torch.distributed.tensor.experimental._context_parallel._attention`: `_templated_ring_attention` and
`_templated_ring_attention_backward`
(https://github.com/pytorch/pytorch/blob/v2.11.0/torch/distributed/tensor/experimental/_context_parallel/_attention.py).
The context manager itself has no rule for the CPU operator, so the two templates are called with it, as
`_scaled_dot_product_ring_flash_attention` calls them with the CUDA operator. `flash_operator.py` says which faults
of the CPU operator are kept out of it. Rotations: all-gather, which is the default, and all-to-all.

Full and causal masks are all that the templates know. Head-tail (`enable_load_balance`) is causal only, and refuses
anything else itself. The merge is in float32 and dK, dV travel in float32, so float64 is not offered.
"""
import torch
from torch.distributed.tensor.experimental import _attention
from torch.distributed.tensor.experimental._context_parallel import _attention as ring

import ringcheck
from ringcheck.adapters import flash_operator

SEQUENCE = 2


class RingAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, group, causal, scale):
        ctx.group, ctx.causal, ctx.scale = group, causal, scale
        o, lse = ring._templated_ring_attention(
            group, SEQUENCE, flash_operator.attend, q, k, v, is_causal=causal, dropout_p=0.0, scale=scale)
        ctx.save_for_backward(q, k, v, o, lse)
        ctx.mark_non_differentiable(lse)
        return o, lse

    @staticmethod
    def backward(ctx, d_o, _):
        q, k, v, o, lse = ctx.saved_tensors
        gradients = ring._templated_ring_attention_backward(
            ctx.group, SEQUENCE, flash_operator.differentiate, d_o, "grad_out", q, k, v, o, lse, is_causal=ctx.causal,
            dropout_p=0.0, scale=ctx.scale)
        return *gradients, None, None, None


def attend(q, k, v, case, group, rotation):
    _attention.set_rotate_method(rotation)
    ring._cp_options.enable_load_balance = case.balance == "headtail"
    return RingAttention.apply(q, k, v, group, case.mask == "causal", case.scale)


SUPPORTS = dict(gqa=True, dtypes=["bf16", "fp16", "float32"], devices=["cpu"],
                shows=["o", "lse", "dq", "dk", "dv"])


@ringcheck.subject(balance="contiguous", masks=["full", "causal"], **SUPPORTS)
def allgather(q, k, v, *, case, group):
    return attend(q, k, v, case, group, "allgather")


@ringcheck.subject(balance="headtail", masks=["causal"], **SUPPORTS)
def allgather_balanced(q, k, v, *, case, group):
    return attend(q, k, v, case, group, "allgather")


@ringcheck.subject(balance="contiguous", masks=["full", "causal"], **SUPPORTS)
def alltoall(q, k, v, *, case, group):
    return attend(q, k, v, case, group, "alltoall")


@ringcheck.subject(balance="headtail", masks=["causal"], **SUPPORTS)
def alltoall_balanced(q, k, v, *, case, group):
    return attend(q, k, v, case, group, "alltoall")
