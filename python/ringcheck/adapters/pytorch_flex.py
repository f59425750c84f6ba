# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch 2.11.0, FlexAttention under context parallelism: `_ContextParallel(AttentionType.FLEX)` and
`_context_parallel_shard` of a BlockMask
(https://github.com/pytorch/pytorch/blob/v2.11.0/torch/distributed/tensor/experimental/_context_parallel/_attention.py).
K and V are all-gathered, their gradients reduce-scattered, and the mask is rewritten to the places of this rank.

Contiguous (`flex`) and head-tail (`flex_balanced`); full, causal, window and documents. `_create_cp_block_mask` wants
a length that divides by 128 x ranks. `flex_attention` and `create_block_mask` are not compiled here. On a CPU
`flex_attention` refuses tensors that need gradients, as it has no compiled backward pass there; the plain one that it
falls back to has, so that check is passed over.
"""

import torch
import torch.nn.attention.flex_attention as template
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor.experimental._context_parallel import _attention as cp
from torch.distributed.tensor.experimental._context_parallel._load_balancer import _HeadTailLoadBalancer
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import ringcheck
from ringcheck.adapters.per_group import once_a_group

BLOCK = 128


def mask_of(case, device):
    """Their mask_mod: whether the query at one place sees the key at another."""
    if case.mask == "full":
        return lambda b, h, q, k: q >= 0
    if case.mask.startswith("window"):
        width = int(case.mask[7:-1])
        return lambda b, h, q, k: (q >= k) & (q - k < width)
    lengths = [int(n) for n in case.mask[4:-1].split(",")] if case.mask.startswith("doc") else [case.seq]
    document = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths)).to(device)
    return lambda b, h, q, k: (q >= k) & (document[q] == document[k])


class Attention(torch.nn.Module):
    def forward(self, query, key, value, **options):
        return flex_attention(query, key, value, **options)


@once_a_group
def mesh_of(group, device):
    return DeviceMesh.from_group(group, device)


def whole_blocks(case):
    if case.seq % (BLOCK * case.world):
        return f"the length has to divide by {BLOCK} x ranks"
    if ":" in case.mask:
        return "documents have no pads"


def attend(q, k, v, case, group):
    cp._compiled_create_block_mask = create_block_mask
    if case.device == "cpu":
        template._validate_device = lambda *tensors: None
    mesh = mesh_of(group, case.device)
    whole = create_block_mask(mask_of(case, q.device), None, None, case.seq, case.seq, device=case.device)
    balancer = _HeadTailLoadBalancer(case.seq, case.world, q.device) if case.balance == "headtail" else None
    mask, = cp._context_parallel_shard(mesh, [whole], [2], load_balancer=balancer)
    module = cp._ContextParallel(seq_dim=2, attention_type=cp._ContextParallel.AttentionType.FLEX)._apply(
        Attention(), mesh)
    return module(q, k, v, block_mask=mask, scale=case.scale, enable_gqa=case.q_heads != case.kv_heads,
                  return_lse=True)


SUPPORTS = dict(masks=["full", "causal", "window", "doc"], gqa=True, dtypes=["bf16", "fp16", "float32"], dim_v=True,
                longest=4096, shows=["o", "lse", "dq", "dk", "dv"], refuses=whole_blocks)


@ringcheck.subject(balance="contiguous", **SUPPORTS)
def flex(q, k, v, *, case, group):
    return attend(q, k, v, case, group)


@ringcheck.subject(balance="headtail", **SUPPORTS)
def flex_balanced(q, k, v, *, case, group):
    return attend(q, k, v, case, group)
