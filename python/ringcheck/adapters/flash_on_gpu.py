# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""FlashAttention 2 as PyTorch has it, in the layout of flash-attn: [batch, slots, heads, dim], LSE [batch, heads, slots].

bf16 and fp16; key heads may be fewer than query heads; a mask is aligned to the last key. Its kernels, those of
flash-attn too, want a positive scale: with another one a masked row gives NaN. The sign goes into q here, and into dQ.
"""
import torch
from torch.nn import functional

from ringcheck.adapters.flash_operator import positive

KERNEL_DIM = 8  # of which dims are multiples


def padded(*tensors):
    """Channels of 0 change no score and no sum."""
    return [functional.pad(tensor, (0, -tensor.shape[-1] % KERNEL_DIM)).contiguous() for tensor in tensors]


def how(scale, causal, left, right):
    """Keyword arguments. A window that is open on both sides is none."""
    window = {} if left < 0 and (right < 0 or causal) else dict(window_size_left=left, window_size_right=right)
    return dict(scale=scale, **window)


def attend(q, k, v, scale, causal, left, right):
    """O in the dtype of q, and LSE in float32."""
    sign, scale = positive(q, scale)
    out, lse, *_ = torch.ops.aten._flash_attention_forward(
        *padded(q * sign, k, v), None, None, q.shape[1], k.shape[1], 0.0, causal, False, **how(scale, causal, left, right))
    return out[..., :v.shape[-1]], lse


def differentiate(dout, q, k, v, out, lse, scale, causal, left, right):
    """dQ, dK, dV of one block, where out and lse are those of the whole row, in the dtype of q."""
    sign, scale = positive(q, scale)
    none = torch.empty(0, dtype=torch.uint64, device=q.device)  # of the random numbers of dropout
    dq, dk, dv = torch.ops.aten._flash_attention_backward(
        *padded(dout, q * sign, k, v, out), lse.contiguous(), None, None, q.shape[1], k.shape[1], 0.0, causal, none, none,
        **how(scale, causal, left, right))
    return [gradient[..., :x.shape[-1]] for gradient, x in zip((dq * sign, dk, dv), (q, k, v))]
