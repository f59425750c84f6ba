# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of flash-attn 2.8.3 that rings call, in PyTorch: a stand-in where that is not installed.

flash-attn (https://github.com/Dao-AILab/flash-attention) has no CPU kernel. What other projects wrote around it, who
sends what to whom, which halves are attended, how partial results are merged, is judged on a CPU with these: float32
inside, each result rounded once to the dtype of q, LSE a float32 natural logarithm; a mask is aligned to the last
key, as in flash-attn since 2.1. On a GPU the kernels are those of FlashAttention 2 in PyTorch itself, which `flash_on_gpu.py`
calls. Dropout, ALiBi and soft caps are refused.
"""
import importlib.machinery
import importlib.util
import sys
import types

import torch

from ringcheck.adapters import flash_on_gpu

VERSION = "2.8.3"


def provide(device):
    """Makes `import flash_attn` work: the package itself on a GPU, where there is one; else this stand-in."""
    if device != "cpu" and importlib.util.find_spec("flash_attn") is not None:
        return
    if "flash_attn" not in sys.modules:
        package, interface = (module(name) for name in ("flash_attn", "flash_attn.flash_attn_interface"))
        package.__version__, package.flash_attn_interface = VERSION, interface
        for function in (flash_attn_func, _flash_attn_forward, _flash_attn_backward, _flash_attn_varlen_forward,
                         _flash_attn_varlen_backward):
            setattr(interface, function.__name__, function)
        package.flash_attn_func = flash_attn_func


def module(name):
    """A package of this name, which `importlib.util.find_spec` finds as well."""
    made = sys.modules[name] = types.ModuleType(name)
    made.__spec__, made.__path__ = importlib.machinery.ModuleSpec(name, None, is_package=True), []
    return made


def refuse(dropout_p, softcap, alibi_slopes):
    if dropout_p or softcap or alibi_slopes is not None:
        raise NotImplementedError("the stand-in for flash-attn has no dropout, soft cap or ALiBi")


def scores(q, k, scale, causal, left, right):
    """q k^T of [batch, slots, heads, dim], -inf where the query may not look. [batch, heads, queries, keys]"""
    grouped = k.float().repeat_interleave(q.shape[2] // k.shape[2], dim=2)
    s = torch.einsum("bqhd,bkhd->bhqk", q.float(), grouped) * scale
    queries, keys = s.shape[-2:]
    ahead = torch.arange(keys) - torch.arange(queries)[:, None] - (keys - queries)
    right = 0 if causal else right
    if right >= 0:
        s = s.masked_fill(ahead > right, -torch.inf)
    return s.masked_fill(ahead < -left, -torch.inf) if left >= 0 else s


def attend(q, k, v, scale, *mask):
    """O [batch, slots, heads, dim] and LSE [batch, heads, slots] of q, k, v [batch, slots, heads, dim]."""
    if q.is_cuda:
        return flash_on_gpu.attend(q, k, v, scale, *mask)
    s = scores(q, k, scale, *mask)
    lse = s.logsumexp(-1)
    p = (s - lse.where(lse.isfinite(), torch.zeros(()))[..., None]).exp()
    grouped = v.float().repeat_interleave(q.shape[2] // v.shape[2], dim=2)
    return torch.einsum("bhqk,bkhd->bqhd", p, grouped).to(q.dtype), lse


def differentiate(dout, q, k, v, out, lse, scale, *mask):
    """dQ, dK, dV of one block, where out and lse are those of the whole row."""
    if q.is_cuda:
        return flash_on_gpu.differentiate(dout, q, k, v, out, lse, scale, *mask)
    p = (scores(q, k, scale, *mask) - lse[..., None]).exp()
    heads, groups = k.shape[2], q.shape[2] // k.shape[2]
    wide_k, wide_v = (x.float().repeat_interleave(groups, dim=2) for x in (k, v))
    dp = torch.einsum("bqhd,bkhd->bhqk", dout.float(), wide_v)
    ds = p * (dp - (dout.float() * out.float()).sum(-1).transpose(1, 2)[..., None]) * scale
    dq = torch.einsum("bhqk,bkhd->bqhd", ds, wide_k)
    dk = torch.einsum("bhqk,bqhd->bkhd", ds, q.float()).unflatten(2, (heads, groups)).sum(3)
    dv = torch.einsum("bhqk,bqhd->bkhd", p, dout.float()).unflatten(2, (heads, groups)).sum(3)
    return dq, dk, dv


def _flash_attn_forward(q, k, v, dropout_p, softmax_scale, causal, window_size_left, window_size_right, softcap,
                        alibi_slopes, return_softmax):
    refuse(dropout_p, softcap, alibi_slopes)
    out, lse = attend(q, k, v, softmax_scale, causal, window_size_left, window_size_right)
    return out, lse, None, None


def _flash_attn_backward(dout, q, k, v, out, softmax_lse, dq, dk, dv, dropout_p, softmax_scale, causal,
                         window_size_left, window_size_right, softcap, alibi_slopes, deterministic, rng_state=None):
    refuse(dropout_p, softcap, alibi_slopes)
    gradients = differentiate(dout, q, k, v, out, softmax_lse, softmax_scale, causal, window_size_left,
                              window_size_right)
    for buffer, gradient in zip((dq, dk, dv), gradients):
        buffer.copy_(gradient)


def documents(cu_seqlens_q, cu_seqlens_k):
    """The slices of queries and of keys of each document."""
    bounds = [[*zip(cu.tolist(), cu.tolist()[1:])] for cu in (cu_seqlens_q, cu_seqlens_k)]
    return [(slice(*queries), slice(*keys)) for queries, keys in zip(*bounds)]


def _flash_attn_varlen_forward(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p,
                               softmax_scale, causal, window_size_left=-1, window_size_right=-1, softcap=0.0,
                               alibi_slopes=None, return_softmax=False, block_table=None, leftpad_k=None,
                               seqused_k=None, zero_tensors=False):
    refuse(dropout_p, softcap, alibi_slopes)
    parts = [attend(q[None, i], k[None, j], v[None, j], softmax_scale, causal, window_size_left, window_size_right)
             for i, j in documents(cu_seqlens_q, cu_seqlens_k)]
    return torch.cat([out[0] for out, _ in parts]), torch.cat([lse[0] for _, lse in parts], dim=1), None, None


def _flash_attn_varlen_backward(dout, q, k, v, out, softmax_lse, dq, dk, dv, cu_seqlens_q, cu_seqlens_k, max_seqlen_q,
                                max_seqlen_k, dropout_p, softmax_scale, causal, window_size_left, window_size_right,
                                softcap, alibi_slopes, deterministic, rng_state=None, zero_tensors=False):
    refuse(dropout_p, softcap, alibi_slopes)
    for i, j in documents(cu_seqlens_q, cu_seqlens_k):
        gradients = differentiate(
            dout[None, i], q[None, i], k[None, j], v[None, j], out[None, i], softmax_lse[None, :, i], softmax_scale,
            causal, window_size_left, window_size_right)
        for buffer, gradient in zip((dq[i], dk[j], dv[j]), gradients):
            buffer.copy_(gradient[0])


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, *how):
        ctx.how = how
        out, lse = attend(q, k, v, *how)
        ctx.save_for_backward(q, k, v, out, lse)
        return out

    @staticmethod
    def backward(ctx, dout):
        q, *rest = ctx.saved_tensors
        gradients = differentiate(dout, q, *rest, *ctx.how)
        return *(gradient.to(q.dtype) for gradient in gradients), *(None for _ in ctx.how)


def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0,
                    alibi_slopes=None, deterministic=False, return_attn_probs=False):
    refuse(dropout_p, softcap, alibi_slopes)
    scale = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    return FlashAttention.apply(q, k, v, scale, causal, *window_size)
