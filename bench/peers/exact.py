# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Causal attention and its gradients in float64, by their definition, some rows at a time."""
import torch

ROWS = 1024  # of queries at a time


def attention(q, k, v, d_o):
    """O, dQ, dK and dV in float64, of [1, heads, seq, dim] of any dtype."""
    heads = [of_head(*(x[0, head].double() for x in (q, k, v, d_o))) for head in range(q.shape[1])]
    return [torch.stack(parts)[None] for parts in zip(*heads)]


def of_head(q, k, v, d_o):
    scale = q.shape[-1] ** -0.5
    o, dq, dk, dv = (torch.zeros_like(x) for x in (v, q, k, v))
    for begin in range(0, len(q), ROWS):
        rows, keys = slice(begin, begin + ROWS), slice(0, min(begin + ROWS, len(k)))
        s = q[rows] @ k[keys].T * scale
        p = s.masked_fill_(torch.ones_like(s, dtype=torch.bool).triu_(begin + 1), -torch.inf).softmax(-1)
        o[rows] = p @ v[keys]
        ds = p * (d_o[rows] @ v[keys].T - (o[rows] * d_o[rows]).sum(-1, keepdim=True)) * scale
        dq[rows] = ds @ k[keys]
        dk[keys] += ds.T @ q[rows]
        dv[keys] += p.T @ d_o[rows]
    return o, dq, dk, dv
