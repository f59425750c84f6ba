# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What the judge asks about a function before it runs."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from ringcheck import balancing
from ringcheck.case import Case
from ringcheck.subject import Subject


def described(subject: Subject, case: Case, most_ranks: int) -> dict:
    """Why the case is refused, what is promised, and the parts of a case that would be taken. most_ranks: that can
    take part; 0 is any number."""
    few = f"{case.world} ranks need a GPU each, and there are {most_ranks}" if 0 < most_ranks < case.world else None
    return {"refuses": subject.refusal(case) or few, "promise": subject.promise(case), "fit": _fit(subject, case),
            "most_ranks": most_ranks}


def _fit(subject: Subject, case: Case) -> dict[str, str]:
    """The parts of the case that have to be others for it to be taken, as text."""
    parts: dict[str, str] = {}
    world = case.world
    if case.balance != balancing.text(subject.balance):
        parts["balance"] = balancing.text(subject.balance)
    if not subject.takes_mask(case):
        parts["mask"] = _pick([m for m in subject.masks if m in ("full", "causal") or "[" in m] or ["causal"], case)
    if case.dtype not in subject.dtypes:
        parts["dtype"] = _pick(subject.dtypes, case)
    if subject.worlds is not None and world not in subject.worlds:
        world = min(subject.worlds, key=lambda size: (abs(size - world), size))
        parts["world"] = str(world)
    heads, kv_heads = case.q_heads, case.kv_heads
    if not subject.gqa:
        kv_heads = heads
    if subject.heads_by_world:
        group = heads // kv_heads
        kv_heads = _up_to(kv_heads, world)
        heads = kv_heads * group
    dim = case.dim
    if subject.dims is not None and dim not in subject.dims:
        dim = min(subject.dims, key=lambda size: (abs(size - dim), size))
    dim_v = case.dim_v if subject.dim_v else dim
    if not subject.batch:
        parts["batch"] = "1"
    if case.data == "uniform" and parts.get("dtype", case.dtype) in ("bf16", "fp16"):
        parts["data"] = "spread3"  # its gradients are smaller than what rounding O to 16 bits leaves of them
    if not subject.rope and case.rope != "none":
        parts["rope"] = "none"
    if not subject.scale and not case.has_default_scale:
        parts["scale"] = "default"
    seq = balancing.nearest(subject.balance, case.seq, world, subject.pads, subject.longest)
    for name, value, was in (("heads", heads, case.q_heads), ("kv_heads", kv_heads, case.kv_heads),
                             ("dim", dim, case.dim), ("dim_v", dim_v, case.dim_v), ("seq", seq, case.seq)):
        if value != was:
            parts[name] = str(value)
    if case.is_padded and (not subject.lengths or {"batch", "mask", "seq"} & parts.keys()):
        parts["lengths"] = "all"
    return parts


def _pick(choices: Sequence[str], case: Case) -> str:
    """One of several, another one for another case, the same in every run."""
    return choices[zlib.crc32(case.text.encode()) % len(choices)]


def _up_to(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def cut(subject: Subject, length: int, world: int) -> dict:
    """Of a sequence, by the subject's own balance: runs of positions, a list of them for each rank."""
    return {"shards": [balancing.spans(shard) for shard in balancing.shards(subject.balance, length, world)]}
