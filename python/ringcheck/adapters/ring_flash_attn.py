# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ring-flash-attn 0.1.8 of zhuzilin (https://github.com/zhuzilin/ring-flash-attention): its ring, zigzag, stripe and
llama3 functions.

On a CPU the kernel is not theirs: `flash_attention.py` stands in for flash-attn, so what is judged is the ring: what
is sent, which blocks are attended, the merge, the way of the gradients. On a GPU it is flash-attn, or, where that is
not installed, PyTorch's FlashAttention 2.

- `ring`: contiguous; full and causal. dQ is rounded to bf16 whatever the dtype (`dq.to(torch.bfloat16)`).
- `zigzag`: head-tail, `stripe`: striped[1]; both assert a causal mask.
- `llama3`: contiguous, packed: one batch entry of one or more documents; K and V of one head are gathered at a time.

float32 is refused, as by flash-attn: the rings would add into the buffers of their blocks there, since
`block_dq_buffer.to(torch.float32)` copies nothing. Windows are an argument of all four and are passed on to every
block as if it were the whole sequence: refused but for llama3, which gathers all keys. A ring of one rank sends to
itself in the backward pass, which gloo cannot: two ranks or more.
"""
import sys
import types

import torch

import ringcheck
from ringcheck.adapters import flash_attention


def implementation(case):
    flash_attention.provide(case.device)
    if "ring_flash_attn" not in sys.modules:
        # Their __init__ patches transformers, which attention does not need.
        patches = sys.modules["ring_flash_attn.adapters"] = types.ModuleType("ring_flash_attn.adapters")
        patches.substitute_hf_flash_attn = patches.update_ring_flash_attn_params = None
    try:
        import ring_flash_attn
    except ImportError as error:
        raise ImportError(f"this needs ring-flash-attn: pip install ring-flash-attn==0.1.8 ({error})") from error
    return ring_flash_attn


def heads_last(*tensors):
    return [tensor.transpose(1, 2) for tensor in tensors]


def attend(function, q, k, v, case, group):
    o, lse, _ = function(*heads_last(q, k, v), softmax_scale=case.scale, causal=case.mask == "causal",
                         return_attn_probs=True, group=group)
    return o.transpose(1, 2), lse


def bounds(case):
    """cu_seqlens: where each document begins, and the end."""
    lengths = [int(n) for n in case.mask[4:-1].split(",")] if case.mask.startswith("doc") else [case.seq]
    return torch.tensor([0, *lengths]).cumsum(0).to(torch.int32)


def window(case):
    """Keys that are seen to the left and to the right of a query, -1 for all."""
    return (int(case.mask[7:-1]) - 1, 0) if case.mask.startswith("window") else (-1, -1)


# The stand-in makes all scores of a block at once.
SUPPORTS = dict(gqa=True, dtypes=["bf16", "fp16"], longest=4096, shows=["o", "lse", "dq", "dk", "dv"])
RING = dict(worlds=range(2, 17), **SUPPORTS)


@ringcheck.subject(balance="contiguous", masks=["full", "causal"], **RING)
def ring(q, k, v, *, case, group):
    return attend(implementation(case).ring_flash_attn_func, q, k, v, case, group)


@ringcheck.subject(balance="headtail", masks=["causal"], **RING)
def zigzag(q, k, v, *, case, group):
    return attend(implementation(case).zigzag_ring_flash_attn_func, q, k, v, case, group)


@ringcheck.subject(balance="striped[1]", masks=["causal"], **RING)
def stripe(q, k, v, *, case, group):
    return attend(implementation(case).stripe_flash_attn_func, q, k, v, case, group)


def no_pads(case):
    return "documents have no pads" if ":" in case.mask else None


@ringcheck.subject(balance="contiguous", masks=["full", "causal", "window", "doc"], batch=False, refuses=no_pads,
                   **SUPPORTS)
def llama3(q, k, v, *, case, group):
    package = implementation(case)
    causal = case.mask != "full"
    cu_q, cu_k, max_q, max_k, keys = package.llama3_flash_attn_prepare_cu_seqlens(
        bounds(case).to(q.device), causal, case.rank, case.world)
    o, lse, _ = package.llama3_flash_attn_varlen_func(
        *(tensor[0].transpose(0, 1) for tensor in (q, k, v)), cu_q, cu_k, max_q, max_k, heads_k_stride=1,
        local_k_slice=keys, softmax_scale=case.scale, causal=causal, window_size=window(case),
        return_attn_probs=True, group=group)
    return o.transpose(0, 1)[None], lse[None]
