# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""TransformerEngine (https://github.com/NVIDIA/TransformerEngine): `transformer_engine.pytorch.DotProductAttention`
with `cp_group`, in each of its ways to communicate. Megatron-LM's context parallelism is this one: its own
DotProductAttention refuses a context-parallel size above 1.

Head-tail, which it expects of its callers; full and causal, and windows where all keys come together (`all_gather`,
`a2a`). bf16 and fp16. Lengths divide by 2 x ranks, heads by ranks for `a2a`. LSE is not returned. GPUs only.
"""

import torch

import ringcheck
from ringcheck.adapters.per_group import once_a_group


@once_a_group
def layer(group, heads, dims, kv_heads, scale, kind):
    try:
        from transformer_engine.pytorch import DotProductAttention
    except ImportError as error:
        raise ImportError("this needs TransformerEngine and its GPU libraries: pip install --no-build-isolation "
                          f"transformer-engine[pytorch] ({error})") from error
    return DotProductAttention(
        heads, dims, num_gqa_groups=kv_heads, attention_dropout=0.0, qkv_format="bshd", softmax_scale=scale,
        cp_group=group, cp_global_ranks=torch.distributed.get_process_group_ranks(group),
        cp_stream=torch.cuda.Stream(), cp_comm_type=kind)


def attend(q, k, v, case, group, kind):
    dims = case.dim if case.dim == case.dim_v else (case.dim, case.dim_v)
    attention = layer(group, case.q_heads, dims, case.kv_heads, case.scale, kind)
    window = (int(case.mask[7:-1]) - 1, 0) if case.mask.startswith("window") else None
    o = attention(*(tensor.transpose(1, 2).contiguous() for tensor in (q, k, v)), window_size=window,
                  attn_mask_type="no_mask" if case.mask == "full" else "causal")
    return o.unflatten(-1, (case.q_heads, case.dim_v)).transpose(1, 2)


def whole_chunks(case):
    if case.seq % (2 * case.world):
        return "the length has to divide by 2 x ranks"


def heads_divide(case):
    if case.q_heads % case.world or case.kv_heads % case.world:
        return "heads of q and of k have to divide by the number of ranks"
    return whole_chunks(case)


SUPPORTS = dict(balance="headtail", gqa=True, dtypes=["bf16", "fp16"], devices=["cuda"],
                shows=["o", "dq", "dk", "dv"])


@ringcheck.subject(masks=["full", "causal"], dim_v=True, refuses=whole_chunks, **SUPPORTS)
def p2p(q, k, v, *, case, group):
    return attend(q, k, v, case, group, "p2p")


@ringcheck.subject(masks=["causal", "window"], refuses=whole_chunks, **SUPPORTS)
def allgather(q, k, v, *, case, group):
    return attend(q, k, v, case, group, "all_gather")


@ringcheck.subject(masks=["full", "causal", "window"], refuses=heads_divide, **SUPPORTS)
def a2a(q, k, v, *, case, group):
    return attend(q, k, v, case, group, "a2a")
