# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Ring attention in plain PyTorch: head-tail shards, K and V passed on, gradients by hand."""

import torch
from torch import distributed

import ringcheck


def places(rank, world, slots):
    half = torch.arange(slots // 2)
    return torch.cat([rank * len(half) + half, (2 * world - 1 - rank) * len(half) + half])


def passed_on(tensors, group):
    to, source = (group.rank() + 1) % group.size(), (group.rank() - 1) % group.size()
    got = [torch.empty_like(tensor) for tensor in tensors]
    messages = [distributed.P2POp(distributed.isend, tensor, to, group) for tensor in tensors]
    messages += [distributed.P2POp(distributed.irecv, tensor, source, group) for tensor in got]
    for message in distributed.batch_isend_irecv(messages):
        message.wait()
    return got


def scores(q, k, case, rank, owner):
    s = q @ k.mT.float() * case.scale
    if case.mask == "causal":
        q_at, k_at = (places(whose, case.world, s.size(-1)) for whose in (rank, owner))
        s = s.masked_fill(k_at > q_at[:, None], -torch.inf)
    return s


class Ring(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, case, group):
        rank, world = group.rank(), group.size()
        ctx.save_for_backward(q, k, v)
        ctx.case, ctx.group, dtype = case, group, q.dtype
        q, k, v = q.float().unflatten(1, (k.size(1), -1)), k.unsqueeze(2), v.unsqueeze(2)
        o, lse = torch.zeros(*q.shape[:-1], v.size(-1)), torch.full(q.shape[:-1], -torch.inf)
        for hop in range(world):
            s = scores(q, k, case, rank, (rank - hop) % world)
            block_lse = torch.logsumexp(s, -1)
            block_o = torch.exp(s - block_lse.nan_to_num(neginf=0.0)[..., None]) @ v.float()
            merged = torch.logaddexp(lse, block_lse)
            o = o * torch.exp(lse - merged)[..., None] + block_o * torch.exp(block_lse - merged)[..., None]
            lse = merged
            if hop < world - 1:
                k, v = passed_on([k, v], group)
        ctx.o, ctx.lse = o, lse
        return o.flatten(1, 2).to(dtype), lse.flatten(1, 2)

    @staticmethod
    def backward(ctx, d_o, _):
        (q, k, v), case, group = ctx.saved_tensors, ctx.case, ctx.group
        rank, world, heads = group.rank(), group.size(), (k.size(1), -1)
        q, d_o = q.float().unflatten(1, heads), d_o.float().unflatten(1, heads)
        k, v = k.unsqueeze(2), v.unsqueeze(2)
        delta = (ctx.o * d_o).sum(-1, keepdim=True)
        dq, dk, dv = torch.zeros_like(q), torch.zeros(k.shape), torch.zeros(v.shape)
        for hop in range(world):
            p = torch.exp(scores(q, k, case, rank, (rank - hop) % world) - ctx.lse[..., None])
            ds = p * (d_o @ v.mT.float() - delta) * case.scale
            dq = dq + ds @ k.float()
            dk = dk + (ds.mT @ q).sum(2, keepdim=True)
            dv = dv + (p.mT @ d_o).sum(2, keepdim=True)
            dk, dv = passed_on([dk, dv], group)
            if hop < world - 1:
                k, v = passed_on([k, v], group)
        gradients = dq.flatten(1, 2), dk.squeeze(2), dv.squeeze(2)
        return *(gradient.to(ctx.saved_tensors[0].dtype) for gradient in gradients), None, None


@ringcheck.subject(balance="headtail", masks=["full", "causal"], dtypes=["float32", "bf16"], devices=["cpu"],
                   gqa=True, dim_v=True, longest=4096, shows=["o", "lse", "dq", "dk", "dv"])
def ring(q, k, v, *, case, group):
    return Ring.apply(q, k, v, case, group)
