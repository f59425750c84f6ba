# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""yunchang 0.6.4, long-context-attention of feifeibear (https://github.com/feifeibear/long-context-attention):
UlyssesAttention, and LongContextAttention, which is Ulysses within a ring.

On a CPU the kernel is not theirs: `flash_attention.py` stands in for flash-attn, so what is judged is who sends what,
the merge and the way of the gradients. On a GPU it is flash-attn, or, where that is
not installed, PyTorch's FlashAttention 2. LSE is not returned by their modules.

- `ulysses`: contiguous; full, causal, window. Heads of q and of k divide by the number of ranks.
- `hybrid`: contiguous, an even number of ranks, pairs of which are Ulysses and the rest a ring; full and causal.
- `zigzag`: head-tail, `stripe`: striped[1], a ring of all ranks; causal only, as they assert. Within a hybrid these
  balance another way (`zigzag_extract_local`), which is no balance of RingCheck.
- `torch_ring`: `ring_impl_type="basic_pytorch"`, with PyTorch's own kernel (`flash_operator.py` on a CPU). Its
  backward pass raises "Not implemented backward for PyTorch attention types".
- `torch_ulysses`: `UlyssesAttention(attn_type=AttnType.TORCH_FLASH)`, which ends in the same exception: O alone is
  shown. It is wrong: each rank has whole sequences of some heads, and `select_flash_attn_impl` gives it the ring over
  the default group, in which heads attend the keys of other ranks' heads.

float32 is refused, as by flash-attn: their rings would add into the buffers of their blocks there. A ring of one rank
sends to itself in the backward pass, which gloo cannot: two ranks or more.
"""

import ringcheck
from ringcheck.adapters import flash_attention, flash_operator
from ringcheck.adapters.per_group import once_a_group


def implementation(case):
    flash_attention.provide(case.device)
    try:
        import yunchang
        import yunchang.kernels
    except ImportError as error:
        raise ImportError(f"this needs yunchang: pip install yunchang==0.6.4 ({error})") from error
    if case.device == "cpu":
        flash_operator.provide()
    return yunchang


@once_a_group
def groups(package, group, ulysses, ring):
    """The groups of this rank in a grid of ulysses x ring; made once, as every rank has to."""
    package.set_seq_parallel_pg(ulysses, ring, group.rank(), group.size())
    return package.globals.PROCESS_GROUP.ULYSSES_PG, package.globals.PROCESS_GROUP.RING_PG


def window(case):
    return (int(case.mask[7:-1]) - 1, 0) if case.mask.startswith("window") else (-1, -1)


def attend(layer, q, k, v, case):
    o = layer(*(tensor.transpose(1, 2) for tensor in (q, k, v)), softmax_scale=case.scale, causal=case.mask != "full",
              window_size=window(case))
    return o.transpose(1, 2)


def long_context(q, k, v, case, group, ulysses, kind, **options):
    package = implementation(case)
    chosen = package.globals.PROCESS_GROUP
    chosen.ULYSSES_PG, chosen.RING_PG = groups(package, group, ulysses, case.world // ulysses)
    return attend(package.LongContextAttention(ring_impl_type=kind, **options), q, k, v, case)


def pairs(case):
    if case.q_heads % 2 or case.kv_heads % 2:
        return "pairs of ranks share heads: heads of q and heads of k have to be even"


# The stand-in makes all scores of a block at once.
SUPPORTS = dict(gqa=True, dtypes=["bf16", "fp16"], longest=4096, shows=["o", "dq", "dk", "dv"])
RING = dict(worlds=range(2, 17), **SUPPORTS)


@ringcheck.subject(balance="contiguous", masks=["full", "causal", "window"], heads_by_world=True, **SUPPORTS)
def ulysses(q, k, v, *, case, group):
    return attend(implementation(case).UlyssesAttention(group), q, k, v, case)


@ringcheck.subject(balance="contiguous", masks=["full", "causal"], worlds=range(4, 17, 2),
                   refuses=pairs, **SUPPORTS)
def hybrid(q, k, v, *, case, group):
    return long_context(q, k, v, case, group, 2, "basic")


@ringcheck.subject(balance="headtail", masks=["causal"], **RING)
def zigzag(q, k, v, *, case, group):
    return long_context(q, k, v, case, group, 1, "zigzag")


@ringcheck.subject(balance="striped[1]", masks=["causal"], **RING)
def stripe(q, k, v, *, case, group):
    return long_context(q, k, v, case, group, 1, "strip")


@ringcheck.subject(balance="contiguous", masks=["full", "causal"], **RING)
def torch_ring(q, k, v, *, case, group):
    package = implementation(case)
    return long_context(q, k, v, case, group, 1, "basic_pytorch", attn_type=package.kernels.AttnType.TORCH_FLASH)


@ringcheck.subject(balance="contiguous", masks=["full", "causal"], heads_by_world=True,
                   **(SUPPORTS | {"shows": ["o"]}))
def torch_ulysses(q, k, v, *, case, group):
    package = implementation(case)
    return attend(package.UlyssesAttention(group, attn_type=package.kernels.AttnType.TORCH_FLASH), q, k, v, case)
