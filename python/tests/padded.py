# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Attention over a padded batch, right and wrong."""

import numpy
import ringcheck

TAKES = {"masks": ["full"], "dtypes": ["float64"], "devices": ["cpu"], "framework": "numpy", "whole": True}


def attended(q, k, v, d_o, scale, lengths):
    """O, dQ, dK and dV of whole sequences, of which each entry holds so many tokens."""
    q, k, v, d_o = (numpy.nan_to_num(numpy.concatenate(x, axis=2)) for x in (q, k, v, d_o))
    slot = numpy.arange(q.shape[2])
    token = slot < numpy.asarray(lengths)[:, None]
    seen = token[:, None, :, None] & token[:, None, None, :]
    p = numpy.where(seen, numpy.exp(q @ k.swapaxes(2, 3) * scale), 0)
    p /= numpy.maximum(p.sum(-1, keepdims=True), 1e-300)
    o = p @ v
    ds = p * (d_o @ v.swapaxes(2, 3) - (o * d_o).sum(-1, keepdims=True)) * scale
    return o, ds @ k, ds.swapaxes(2, 3) @ q, p.swapaxes(2, 3) @ d_o


def answer(q, k, v, case, lengths):
    cuts = numpy.cumsum([x.shape[2] for x in q])[:-1]
    o, dq, dk, dv = (numpy.split(x, cuts, axis=2) for x in attended(q, k, v, case.d_o, case.scale, lengths))
    return ringcheck.Result(o=o, dq=dq, dk=dk, dv=dv)


@ringcheck.subject(lengths=True, **TAKES)
def right(q, k, v, *, case, group):
    return answer(q, k, v, case, case.lengths)


@ringcheck.subject(lengths=True, **TAKES)
def by_the_first_entry(q, k, v, *, case, group):
    return answer(q, k, v, case, case.lengths[:1] * case.batch)


@ringcheck.subject(**TAKES)
def of_one_length(q, k, v, *, case, group):
    return answer(q, k, v, case, case.lengths)
