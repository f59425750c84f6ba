# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's flash operator, on a CPU: `aten::_scaled_dot_product_flash_attention_for_cpu` and its backward, for rings.
Those of the GPU, `aten::_scaled_dot_product_flash_attention` and its backward, have no CPU kernel; `provide` gives them
this one, so that rings that call the operator by name run on a CPU as they are.

Two faults of the CPU operator (2.11.0) are kept out of what is judged, as no ring can help them:

- With a causal mask a scale of zero gives NaN, and a negative one NaN, infinity or wrong numbers: it writes -inf into
  the scores that are hidden, and multiplies by the scale after that. The sign goes into q here, and into dQ.
- The backward pass adds up dK and dV of 16 bits in 16 bits, block by block and query head by query head: 3.6 times the
  error of one rounding at 32 query heads for one key head. It runs in float32 here, and is rounded once.
"""
import functools
import math

import torch

FORWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def positive(query, scale):
    """The sign of the scale, 0 for 0, and a positive scale to go with query * sign."""
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    return (math.copysign(1.0, scale), abs(scale)) if scale else (0.0, 1.0)


def attend(query, key, value, dropout_p=0.0, is_causal=False, *, scale=None):
    """o and lse. [batch, heads, slots, dim], [batch, heads, slots]"""
    sign, scale = positive(query, scale)
    return FORWARD(query * sign, key, value, dropout_p, is_causal, scale=scale)


def differentiate(grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, *, scale=None):
    """dQ, dK and dV, in the dtype of query."""
    sign, scale = positive(query, scale)
    wide = [tensor.float() for tensor in (grad_out, query * sign, key, value, out)]
    dq, dk, dv = BACKWARD(*wide, logsumexp, dropout_p, is_causal, scale=scale)
    return tuple(gradient.to(query.dtype) for gradient in (dq * sign, dk, dv))


def forward(query, key, value, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
    o, lse = attend(query, key, value, dropout_p, is_causal, scale=scale)
    nothing = lse.new_empty(0, dtype=torch.int64)
    return o, lse, nothing, nothing, query.shape[2], key.shape[2], nothing, nothing, nothing


def backward(grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal,
             philox_seed, philox_offset, *, scale=None):
    return differentiate(grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, scale=scale)


@functools.cache
def provide():
    library = torch.library.Library("aten", "IMPL", "CPU")
    library.impl("_scaled_dot_product_flash_attention", forward)
    library.impl("_scaled_dot_product_flash_attention_backward", backward)
    return library
