# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""The question that a subject is asked."""

from __future__ import annotations

import dataclasses
import math
from typing import Any


@dataclasses.dataclass(frozen=True)
class Case:
    """One case, as one rank sees it. Sizes are those of the whole sequence."""

    text: str  #: all of it, as ``ringcheck verify --case`` reads it
    batch: int
    q_heads: int  #: a multiple of kv_heads
    kv_heads: int
    seq: int  #: tokens of the whole sequence
    dim: int  #: channels of a query and key head
    dim_v: int  #: channels of a value head
    dtype: str  #: float64 | float32 | bf16 | fp16
    mask: str  #: full, causal, window[4], doc[4,12], ...
    rope: str  #: none, or the rotary embedding that q and k still need
    balance: str  #: contiguous, headtail, striped[16]
    scale: float  #: of the scores q k
    world: int  #: ranks
    device: str  #: cpu | cuda
    data: str  #: where the values come from: spread3, ...
    lengths: tuple[int, ...] = ()  #: tokens of each batch entry: behind them its slots hold none
    rank: int | None = None  #: None where all ranks are asked at once
    positions: Any = None  #: the place of each slot of this rank in the sequence, [slots] int64
    d_o: Any = None  #: the gradient of o, [batch, q_heads, slots, dim_v]

    @property
    def mask_name(self) -> str:
        """The name of the mask, without its arguments."""
        return self.mask.split("[")[0]

    @property
    def has_default_scale(self) -> bool:
        """The scale is 1 / sqrt(dim), however that was rounded."""
        return math.isclose(self.scale, self.dim ** -0.5)

    @property
    def is_padded(self) -> bool:
        """Whether some batch entry holds fewer tokens than the sequence has slots."""
        return any(length != self.seq for length in self.lengths)

    @staticmethod
    def of(question: dict) -> Case:
        """The case in a question of the judge."""
        parts = question["parts"]
        sizes = {name: int(parts[key]) for name, key in (
            ("batch", "batch"), ("q_heads", "heads"), ("kv_heads", "kv_heads"), ("seq", "seq"),
            ("dim", "dim"), ("dim_v", "dim_v"), ("world", "world"))}
        words = {name: parts[name] for name in ("dtype", "mask", "rope", "balance", "device", "data")}
        said = parts["lengths"]
        lengths = tuple(map(int, said.split("+"))) if said else (sizes["seq"],) * sizes["batch"]
        return Case(text=question["text"], scale=question["scale"], lengths=lengths, **sizes, **words)
