# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's flash operator of the GPU, on a CPU: `aten::_scaled_dot_product_flash_attention` and its backward, which
have no CPU kernel, are given those of `aten::_scaled_dot_product_flash_attention_for_cpu`. Rings that call the
operator by name then run on a CPU as they are.
"""
import functools

import torch

FORWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def forward(query, key, value, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
    o, lse = FORWARD(query, key, value, dropout_p, is_causal, scale=scale)
    nothing = lse.new_empty(0, dtype=torch.int64)
    return o, lse, nothing, nothing, query.shape[2], key.shape[2], nothing, nothing, nothing


def backward(grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal,
             philox_seed, philox_offset, *, scale=None):
    return BACKWARD(grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, scale=scale)


@functools.cache
def provide():
    library = torch.library.Library("aten", "IMPL", "CPU")
    library.impl("_scaled_dot_product_flash_attention", forward)
    library.impl("_scaled_dot_product_flash_attention_backward", backward)
    return library
