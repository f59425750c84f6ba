# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ringmaster 0.2.7, the package axolotl-ringmaster (https://pypi.org/project/axolotl-ringmaster): its rings of
`ringmaster.ring`, below the registration with transformers. On a CPU each has a path in plain PyTorch of its own; on
a GPU they take flash-attention 2 by way of transformers.

- `allgather`: contiguous; full, causal and window. One call over the gathered keys.
- `p2p`: contiguous; full and causal.
- `documents`: contiguous, masks of documents, over gathered keys.
- `zigzag`: head-tail, causal and documents, by its path for packed sequences: the other one needs a GPU.
- `distflash`: contiguous, causal and documents: ranks that would idle attend for others. Without documents, its path
  for a CPU knows no grouped heads in the backward pass: refused.
- `usp`: contiguous; full, causal and window: pairs of Ulysses within `allgather`.

LSE is not returned.
"""

import torch
from torch.distributed.device_mesh import init_device_mesh

import ringcheck
from ringcheck.adapters.per_group import once_a_group


def implementation():
    try:
        from ringmaster.config import RotateMethod
        from ringmaster.ring import distflash, loop, zigzag
    except ImportError as error:
        raise ImportError(f"this needs ringmaster: pip install axolotl-ringmaster==0.2.7 ({error})") from error
    return RotateMethod, loop, zigzag, distflash


def bounds(case):
    """cu_seqlens: where each document begins, and the end."""
    lengths = [int(n) for n in case.mask[4:-1].split(",")] if case.mask.startswith("doc") else [case.seq]
    return torch.tensor([0, *lengths]).cumsum(0).to(torch.int32)


def kernel(case):
    return ("math", "math") if case.device == "cpu" else ("hf_kernels", "flash_attention_2")


def ring(q, k, v, case, group, rotation, window=None):
    rotations, loop, _, _ = implementation()
    provider, blocks = kernel(case)
    o = loop.ring_attention(
        q, k, v, group=group, causal=case.mask != "full", scaling=case.scale, dropout=0.0, provider=provider,
        rotate_method=rotations(rotation), attn_implementation=blocks, window=window)
    return o.transpose(1, 2)


SUPPORTS = dict(gqa=True, dtypes=["bf16", "fp16", "float32"], longest=4096, shows=["o", "dq", "dk", "dv"])


@ringcheck.subject(balance="contiguous", masks=["full", "causal", "window"], **SUPPORTS)
def allgather(q, k, v, *, case, group):
    window = (int(case.mask[7:-1]) - 1, 0) if case.mask.startswith("window") else None
    return ring(q, k, v, case, group, "allgather", window)


@ringcheck.subject(balance="contiguous", masks=["full", "causal"], **SUPPORTS)
def p2p(q, k, v, *, case, group):
    return ring(q, k, v, case, group, "alltoall")


def no_pads(case):
    return "documents have no pads" if ":" in case.mask else None


@ringcheck.subject(balance="contiguous", masks=["doc"], batch=False, refuses=no_pads, **SUPPORTS)
def documents(q, k, v, *, case, group):
    _, loop, _, _ = implementation()
    o = loop.varlen_ring_attention(q, k, v, group=group, scaling=case.scale, cu_seqlens=bounds(case),
                                   attn_implementation=kernel(case)[1])
    return o.transpose(1, 2)


@ringcheck.subject(balance="headtail", masks=["causal", "doc"], batch=False, worlds=range(2, 17),
                   refuses=no_pads, **SUPPORTS)
def zigzag(q, k, v, *, case, group):
    _, _, zigzag, _ = implementation()
    o = zigzag.zigzag_ring_attention(q, k, v, group=group, scaling=case.scale, cu_seqlens=bounds(case))
    return o.transpose(1, 2)


def plain_heads(case):
    if case.mask == "causal" and case.device == "cpu" and case.q_heads != case.kv_heads:
        return "the backward pass of distflash on a CPU knows no grouped heads"
    return no_pads(case)


@ringcheck.subject(balance="contiguous", masks=["causal", "doc"], refuses=plain_heads, **SUPPORTS)
def distflash(q, k, v, *, case, group):
    _, _, _, distflash = implementation()
    o = distflash.distflash_attention(q, k, v, group=group, scaling=case.scale,
                                      cu_seqlens=None if case.mask == "causal" else bounds(case))
    return o.transpose(1, 2)


@once_a_group
def grid(group, device):
    """A grid of ring x Ulysses; its groups are made once, as every rank has to."""
    return init_device_mesh(device, (group.size() // 2, 2), mesh_dim_names=("ring", "ulysses"))


def pairs(case):
    if case.q_heads % 2 or case.kv_heads % 2:
        return "pairs of ranks share heads: heads of q and heads of k have to be even"


@ringcheck.subject(balance="contiguous", masks=["full", "causal", "window"], worlds=range(2, 17, 2),
                   refuses=pairs, **SUPPORTS)
def usp(q, k, v, *, case, group):
    rotations, _, _, _ = implementation()
    from ringmaster import runtime
    from ringmaster.strategies.usp import make_usp_attention
    mesh = grid(group, case.device)
    runtime.set_runtime(runtime.CPRuntime(config=None, ulysses_group=mesh.get_group("ulysses"),
                                          ring_group=mesh.get_group("ring"), cp_group=group))
    attention = make_usp_attention(*kernel(case), rotations("allgather"))
    width = int(case.mask[7:-1]) if case.mask.startswith("window") else None
    o, _ = attention(torch.nn.Module(), q, k, v, None, scaling=case.scale, is_causal=case.mask != "full",
                     sliding_window=width)
    return o.transpose(1, 2)
