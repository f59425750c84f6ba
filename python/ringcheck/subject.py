# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What a user says of a function that is to be judged."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ringcheck import balancing
from ringcheck.balancing import Cut
from ringcheck.case import Case
from ringcheck.refused import Refused

DTYPES = ("float64", "float32", "bf16", "fp16")
TENSORS = ("o", "lse", "dq", "dk", "dv", "q", "k")
MASKS = ("full", "causal", "window", "doc", "docfull", "prefix")
MOST_RANKS = 256  # of a case of the program
KNOWN = {"masks": MASKS, "dtypes": DTYPES, "devices": ("cpu", "cuda"), "shows": TENSORS}
SIZES = ("worlds", "dims")
FLAGS = ("gqa", "dim_v", "pads", "scale", "batch", "lengths", "rope", "heads_by_world", "deterministic", "whole")


@dataclasses.dataclass
class Result:
    """What a function returns that makes its gradients itself, or rotates q and k. Shapes: o [batch, q_heads, slots,
    dim_v], lse [batch, q_heads, slots] (natural logarithm), dq, dk, dv as q, k, v: for these as they are given; q, k:
    as they were attended, after the rotary embedding. Without dq, dk and dv they are taken by autograd."""

    o: Any
    lse: Any = None
    dq: Any = None
    dk: Any = None
    dv: Any = None
    q: Any = None
    k: Any = None


@dataclasses.dataclass(frozen=True)
class Subject:
    """A function, and what it can do: what is not declared is refused. `ringcheck.subject` makes one.

    q, k, v: [batch, heads, slots, dim] of this rank, leaves that require gradients; `group`: the process
    group of the ranks of the case, which is the default one, too. Without a `Result` the gradients are
    taken by autograd, of sum(o * case.d_o).

    balance: how the sequence is cut: contiguous | headtail | striped[BLOCK], or a function (length, world,
    rank) -> the positions of that rank's slots, as many on every rank, in `case.balance` "own".
    masks: full, causal, window, doc, docfull, prefix, or one with its arguments.
    gqa: fewer key heads than query heads. dim_v: values of another width. pads: shards whose last slots
    hold no token (position >= case.seq). batch: more than one sequence. lengths: batch entries
    that hold different numbers of tokens (position >= case.lengths[entry]). rope: rotates q and k itself, and shows
    both in a `Result`.
    heads_by_world: the ranks divide the heads. worlds, dims: None is any. longest: the most tokens of a
    sequence (a function that makes all scores at once runs out of memory, or time, far below a ring).
    shows: the tensors that it returns, of o, lse, dq, dk, dv, and q, k as they were attended.
    contract: the kernel whose rounding it may have (plain, flash, ...); None: the loosest known.
    partials: rounded partial results that a row of o, or of a gradient, is merged from; 0: two a rank.
    whole: it is called once for all ranks, with lists by rank. framework: torch | numpy.
    refuses: a function of the case that says why it is refused, or None.
    sends: a function (case, rank) -> the bytes that it sends to each rank in both passes; None: it does not say.
    """

    function: Callable
    balance: str | Cut
    masks: tuple[str, ...]
    dtypes: tuple[str, ...]
    devices: tuple[str, ...]
    worlds: tuple[int, ...] | None
    dims: tuple[int, ...] | None
    longest: int | None
    gqa: bool
    dim_v: bool
    pads: bool
    scale: bool
    batch: bool
    lengths: bool
    rope: bool
    heads_by_world: bool
    shows: tuple[str, ...]
    contract: str | None
    partials: int
    u_angle: float
    deterministic: bool
    framework: str
    whole: bool
    refuses: Callable[[Case], str | None] | None
    sends: Callable[[Case, int], Sequence[int]] | None

    def __post_init__(self) -> None:
        """Throws Refused where something is of another kind than it must be."""
        def want(name: str, holds: bool, wanted: str) -> None:
            if not holds:
                raise Refused(f"{name}={getattr(self, name)!r}; want {wanted}")

        want("function", callable(self.function), "a function (q, k, v, *, case, group)")
        balancing.check(self.balance)
        for name in KNOWN:
            _check_known(name, getattr(self, name))
        if self.rope and not {"q", "k"} <= set(self.shows):
            raise Refused(f"rope=True, but shows={self.shows!r}; want q and k in it, too, and return a ringcheck.Result that "
                          "has them as they were attended: else nobody could tell how they were rotated")
        want("framework", self.framework in ("torch", "numpy"), "torch or numpy")
        for name in FLAGS:
            want(name, isinstance(getattr(self, name), bool), "True or False")
        if (self.framework == "numpy") != self.whole:
            raise Refused(f"framework={self.framework!r} and whole={self.whole}; want framework='numpy' and whole=True together: "
                          "a function that is called once for all ranks is given arrays, one of a rank tensors")
        for name in SIZES:
            sizes = getattr(self, name)
            want(name, sizes is None or (bool(sizes) and all(_is_count(size, 1) for size in sizes)),
                 "whole numbers from 1, or None for any")
        want("longest", self.longest is None or _is_count(self.longest, 1), "a whole number from 1, or None for any")
        want("partials", _is_count(self.partials, 0), "a whole number from 0")
        want("u_angle", isinstance(self.u_angle, (int, float)) and 0 <= self.u_angle < 1, "a number from 0 to 1")
        want("contract", self.contract is None or isinstance(self.contract, str), "the name of a kernel, or None")
        for name in ("refuses", "sends"):
            want(name, getattr(self, name) is None or callable(getattr(self, name)), "a function, or None")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def takes_mask(self, case: Case) -> bool:
        return case.mask in self.masks or case.mask_name in self.masks

    def refusal(self, case: Case) -> str | None:
        """Why a case is refused, or None."""
        for fits, why in (
            (case.balance == balancing.text(self.balance), f"takes shards cut by {balancing.text(self.balance)}"),
            (self.takes_mask(case), f"takes masks {', '.join(self.masks)}"),
            (case.dtype in self.dtypes, f"takes dtypes {', '.join(self.dtypes)}"),
            (case.device in self.devices, f"runs on {', '.join(self.devices)}"),
            (self.worlds is None or case.world in self.worlds, f"takes worlds of {self.worlds} ranks"),
            (self.dims is None or case.dim in self.dims, f"takes heads of {self.dims} channels"),
            (self.longest is None or case.seq <= self.longest, f"takes at most {self.longest} tokens"),
            (self.gqa or case.q_heads == case.kv_heads, "has no grouped query heads"),
            (self.dim_v or case.dim == case.dim_v, "takes values as wide as keys"),
            (self.batch or case.batch == 1, "takes one sequence at a time"),
            (self.lengths or not case.is_padded, "takes batch entries of one length"),
            (self.rope or case.rope == "none", "takes q and k as they are, without rotary embedding"),
            (not self.heads_by_world or (case.q_heads % case.world == 0 and case.kv_heads % case.world == 0),
             "deals whole heads to the ranks"),
            (self.scale or case.has_default_scale, "scales by 1 / sqrt(dim)"),
        ):
            if not fits:
                return f"{self.name} {why}"
        if why := balancing.refusal(self.balance, case.seq, case.world, self.pads):
            return f"{self.name} {why}"
        why = self.refuses(case) if self.refuses else None
        if why is not None and not isinstance(why, str):
            raise Refused(f"refuses({case.text}) gives {why!r}; want a reason, or None")
        return why

    def only(self, asked: dict[str, list[str]]) -> Subject:
        """The same with no more than what is asked for. Throws Refused where it does not take that."""
        worlds = asked.get("worlds")
        for value in worlds or ():
            check_world(value)
            if self.worlds is not None and int(value) not in self.worlds:
                raise Refused(f"world={value}, but {self.name} takes {self.worlds}")
        for name, taken in (("dtypes", self.dtypes), ("masks", self.masks)):
            for value in asked.get(name, ()):
                if value not in taken and not (name == "masks" and value.split("[")[0] in taken):
                    raise Refused(f"{name[:-1]}={value!r}, but {self.name} takes {', '.join(taken)}")
        return dataclasses.replace(
            self, worlds=tuple(map(int, worlds)) if worlds else self.worlds,
            dtypes=tuple(asked.get("dtypes", self.dtypes)), masks=tuple(asked.get("masks", self.masks)))

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", "the function")

    def promise(self, case: Case) -> dict:
        """What it is held to."""
        said = {"contract": self.contract, "partials": self.partials or 2 * case.world,
                "u_angle": self.u_angle, "deterministic": self.deterministic, "lengths": self.lengths,
                "shows": list(self.shows)}
        return said if self.sends is None else said | {"sends": self._sent(case)}

    def _sent(self, case: Case) -> list[list[int]]:
        """Bytes by sender and receiver. Throws Refused where `sends` says something else."""
        rows = []
        for rank in range(case.world):
            row = [int(bytes_to) for bytes_to in self.sends(case, rank)]
            if len(row) != case.world or min(row) < 0 or row[rank]:
                raise Refused(f"sends(case, {rank}) gives {row}; want bytes for each of {case.world} ranks, none for its own")
            rows.append(row)
        return rows


def check_world(value: str) -> None:
    if not value.isdecimal() or not 1 <= int(value) <= MOST_RANKS:
        raise Refused(f"world={value!r}; want a number of ranks from 1 to {MOST_RANKS}")


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _check_known(name: str, given: tuple) -> None:
    """Throws Refused where one of them is unknown, or there is none. A mask may have arguments."""
    known = KNOWN[name]
    for value in given:
        if (value.split("[")[0] if name == "masks" and isinstance(value, str) else value) not in known:
            raise Refused(f"{name}={given!r}: {value!r} is unknown; known: {', '.join(known)}")
    if not given:
        raise Refused(f"{name} is empty; name at least one of {', '.join(known)}")


def several(value: Any) -> list:
    """A value is a list of one."""
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def subject(
    function: Callable | None = None,
    *,
    balance: str | Cut = "contiguous",
    masks: str | Sequence[str] = ("full",),
    dtypes: str | Sequence[str] = DTYPES,
    devices: str | Sequence[str] = ("cpu", "cuda"),
    worlds: int | Sequence[int] | None = None,
    dims: int | Sequence[int] | None = None,
    longest: int | None = None,
    gqa: bool = False,
    dim_v: bool = False,
    pads: bool = False,
    scale: bool = True,
    batch: bool = True,
    lengths: bool = False,
    rope: bool = False,
    heads_by_world: bool = False,
    shows: str | Sequence[str] = ("o", "dq", "dk", "dv"),
    contract: str | None = None,
    partials: int = 0,
    u_angle: float = 2.0**-24,
    deterministic: bool = False,
    framework: str = "torch",
    whole: bool = False,
    refuses: Callable[[Case], str | None] | None = None,
    sends: Callable[[Case, int], Sequence[int]] | None = None,
) -> Any:
    """Declares a function as a subject: ``function(q, k, v, *, case, group)`` is called on every rank with
    its shard and returns o, (o, lse) or a `Result`. What the arguments mean says `Subject`; where there may be
    several, one stands for a list of it."""
    declared = dict(locals())
    del declared["function"]
    for name in (*KNOWN, *SIZES):
        if name in KNOWN or declared[name] is not None:
            declared[name] = tuple(several(declared[name]))
    return functools.partial(Subject, **declared) if function is None else Subject(function, **declared)
