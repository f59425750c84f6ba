# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed 0.19.8 (https://github.com/deepspeedai/DeepSpeed): `deepspeed.sequence.layer.DistributedAttention`,
Ulysses: an all-to-all before and after the attention of some heads over the whole sequence, which is PyTorch's
`scaled_dot_product_attention` here.

Contiguous; full, causal and window (the mask is the local attention's). Heads that do not divide by the number of
ranks are dealt unevenly, as its all-to-all allows, with at least one key head a rank. LSE is not returned. On a CPU:
DS_BUILD_OPS=0 pip install --no-build-isolation deepspeed==0.19.8.
"""
import os
import sys
import types

import torch
from torch.nn.functional import scaled_dot_product_attention

import ringcheck


def implementation():
    os.environ.setdefault("DS_ACCELERATOR", "cuda" if torch.cuda.is_available() else "cpu")
    try:
        import deepspeed.comm
        from deepspeed.sequence.layer import DistributedAttention
        from deepspeed.utils import groups
    except ImportError as error:
        raise ImportError("this needs deepspeed: DS_BUILD_OPS=0 pip install --no-build-isolation deepspeed==0.19.8 "
                          f"({error})") from error
    if deepspeed.comm.comm.cdb is None:
        # Its all-reduce in shared memory would be compiled. (deepspeed.comm.torch is torch itself there.)
        sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None
        deepspeed.comm.init_distributed(dist_backend=torch.distributed.get_backend(), dist_init_required=False)
    return DistributedAttention, groups


class WholeSequence(torch.nn.Module):
    """Attention of [batch, seq, heads, dim]."""

    def forward(self, q, k, v, mask, scale):
        q, k, v = (tensor.transpose(1, 2) for tensor in (q, k, v))
        o = scaled_dot_product_attention(q, of_each_query(k, q), of_each_query(v, q), attn_mask=mask, scale=scale)
        return o.transpose(1, 2)


def of_each_query(heads, q):
    """Keys or values of each query head, whose gradients one sum rounds once; enable_gqa=True adds them one by one in
    the dtype, on a CPU. [batch, q_heads, seq, dim]"""
    group = q.shape[1] // heads.shape[1]
    return heads.unsqueeze(2).expand(-1, -1, group, -1, -1).flatten(1, 2)


def mask_of(case, device):
    """Which key a query may see. [seq, seq]"""
    if case.mask == "full":
        return None
    ahead = torch.arange(case.seq, device=device) - torch.arange(case.seq, device=device)[:, None]
    width = int(case.mask[7:-1]) if case.mask.startswith("window") else case.seq
    return (ahead <= 0) & (ahead > -width)


def a_head_each(case):
    if case.kv_heads < case.world:
        return "there are fewer key heads than ranks"


@ringcheck.subject(balance="contiguous", masks=["full", "causal", "window"], gqa=True, dim_v=True,
                   longest=4096, shows=["o", "dq", "dk", "dv"], refuses=a_head_each)
def ulysses(q, k, v, *, case, group):
    layer, groups = implementation()
    groups.mesh_device, groups.mpu = None, types.SimpleNamespace(get_sequence_parallel_rank=group.rank)
    attention = layer(WholeSequence(), group, scatter_idx=2, gather_idx=1)
    heads_last = [tensor.transpose(1, 2) for tensor in (q, k, v)]
    return attention(*heads_last, 0, mask=mask_of(case, q.device), scale=case.scale).transpose(1, 2)
