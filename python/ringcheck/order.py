# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What is to be judged, as words for the program."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ringcheck import load, program
from ringcheck.subject import Refused, Subject, check_world, several


def check_declared(function: Callable | Subject) -> None:
    """Whether another process, which loads the file again, finds there what is declared, and not the bare function.
    Throws Refused where it does not."""
    if not isinstance(function, Subject) or function.function.__module__.startswith("ringcheck.adapters."):
        return
    inner = function.function
    name = getattr(inner, "__qualname__", "")
    found = load.found_in(sys.modules.get(inner.__module__), name)
    if found is inner or (isinstance(found, Subject) and found != function):
        what = "the function without what is declared of it" if found is inner else "declared otherwise"
        raise Refused(f"{name} of {inner.__module__} is {what}, and that is what the ranks find, which load its file again; declare it "
                      f"under that name: @ringcheck.subject(...) above it, or {name} = ringcheck.subject(...)({name})")


def spelled(function: Callable | Subject) -> str:
    """FILE:NAME, by which another process finds the function. Throws Refused where there is none."""
    inner = function.function if isinstance(function, Subject) else function
    if not callable(inner):
        raise Refused(f"verify judges a function, not a {type(inner).__name__}")
    name = getattr(inner, "__qualname__", "")
    if "<" in name or not name:
        raise Refused(f"{name or inner!r} is made inside another function, where no other process finds it; "
                      "define it at the top of a file")
    module = getattr(inner, "__module__", "")
    if module.startswith("ringcheck.adapters."):
        return f"{module}:{name}"
    try:
        file = inspect.getsourcefile(inner)
    except TypeError:
        file = None
    if not file or not os.path.isfile(file):
        raise Refused(f"{name} stands in no file that another process could load; save it in one")
    path = os.path.relpath(file) if not os.path.relpath(file).startswith("..") else os.path.abspath(file)
    if set(path) & set("[],:'"):
        raise Refused(f"the path {path!r} has one of [],:' in it, which the text of a case cannot hold; rename it")
    return f"{path}:{name}"


#: Options of the program that say which cases.
CHOOSING = frozenset(f"--{name}" for name in (
    "profile", "model", "case", "tensors", "clean", "world", "subject", "strategy", "rotation", "balance", "kernel", "mask",
    "world-kind", "device", "batch", "lengths", "heads", "kv-heads", "seq", "dim", "dim-v", "dtype", "rope", "scale", "data",
    "seed"))


def without_choice(options: Sequence[str]) -> list[str]:
    """Those that say how cases are judged: which, a list of cases says itself."""
    kept, chooses = [], False
    for word in options:
        if word.startswith("-") and word != "-":
            chooses = word.split("=")[0] in CHOOSING
        if not chooses:
            kept.append(word)
    return kept


#: What torch calls otherwise than the program does.
TORCH_DTYPES = {"torch.bfloat16": "bf16", "torch.float16": "fp16"}


def _spelt(value: Any) -> str:
    """A dtype of torch as the program knows it; else as Python says it."""
    return TORCH_DTYPES.get(str(value), str(value).removeprefix("torch."))


def _several(name: str, value: Any) -> list:
    """A value is a list of one. Throws Refused where there is none."""
    found = several(value)
    if not found:
        raise Refused(f"{name}={value!r} is empty; leave it out, or name at least one")
    return found


def _values(name: str, value: Any) -> list[str]:
    return [_spelt(one) for one in _several(name, value)]


def _further(options: Sequence[str]) -> list[str]:
    """Further words for the program. Throws Refused where they are none, or would say what is judged or where it goes."""
    if isinstance(options, str) or not all(isinstance(word, str) for word in options):
        raise Refused(f"options={options!r}; want a list of words, for example ['--sample', '64']")
    for word in options:
        if word.split("=")[0] in TAKEN:
            raise Refused(f"options={options!r}: {word.split('=')[0]} is said by verify itself ({TAKEN[word.split('=')[0]]}); "
                          "leave it out")
    return [*options]


#: Options that verify says itself, and by what.
TAKEN = {"--subject": "the function", "--case": "cases", "--profile": "profile", "--json": "json_file"}


def _words(name: str, value: Any) -> list[str]:
    return [f"--{name}", ",".join(_values(name, value))] if value is not None else []


def texts(cases: str | Sequence[str]) -> list[str]:
    """Of cases. Throws Refused where something in it is none."""
    found = _several("cases", cases)
    for case in found:
        if not isinstance(case, str):
            raise Refused(f"cases={cases!r}: {case!r} is a {type(case).__name__}; want texts as findings print them")
    return found


def check_names(caller: str, given: Iterable[str], more: Sequence[str] = ()) -> None:
    """Throws TypeError, as Python does, where an argument is none of `order`, nor one more of its caller."""
    known = [*list(inspect.signature(order).parameters)[1:], *more]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise TypeError(f"{caller}() got an unexpected keyword argument {name!r}; "
                            + (f"did you mean {near[0]!r}? " if near else "") + f"known: {', '.join(known)}")


@dataclasses.dataclass(frozen=True)
class Order:
    """What is to be run: words for the program, and what of a subject is meant, for its processes."""

    words: list[str]
    only: dict[str, list[str]]
    function: str  #: FILE:NAME

    @property
    def variables(self) -> dict[str, str]:
        return program.environment() | {load.ONLY: json.dumps(self.only)}


def order(
    function: Callable | Subject,
    *,
    profile: str | None = None,
    cases: str | Sequence[str] | None = None,
    world: int | Sequence[int] | None = None,
    dtype: str | Sequence[str] | None = None,
    mask: str | Sequence[str] | None = None,
    seq: int | str | Sequence[int] | None = None,
    device: str | None = None,
    oracles: str | Sequence[str] | None = None,
    deadline: float | None = None,
    jobs: int | None = None,
    options: Sequence[str] = (),
) -> Order:
    """As `verify` takes them. Throws Refused where they contradict each other."""
    parts = {"world": world, "dtype": dtype, "mask": mask}
    given = [name for name, value in ({"profile": profile, "seq": seq} | parts).items() if value is not None]
    place = spelled(function)
    name = f"python[{place}]"
    how = [word for key, value in (("oracles", oracles), ("deadline", deadline), ("jobs", jobs))
           for word in _words(key, value)] + _further(options)
    if cases is not None:
        asked = texts(cases)
        if given:
            raise Refused(f"cases and {given[0]} contradict each other: a case says every part itself; leave one out")
        whole = [case if case.startswith("subject:") else f"subject:{name}/{case}" for case in asked]
        return Order(["verify", *(word for text in whole for word in ("--case", text)), *how], {}, place)
    words = ["verify", "--subject", name, *_words("device", device)]
    if seq is None:
        only = {f"{key}s": _values(key, value) for key, value in parts.items() if value is not None}
        for value in only.get("worlds", ()):
            check_world(value)
        return Order([*words, "--profile", profile or "smoke", *how], only, place)
    if profile is not None:
        raise Refused("profile and seq contradict each other: a profile has lengths of its own; leave one out")
    return Order([*words, *_words("seq", seq), *(word for key, value in parts.items() for word in _words(key, value)),
                  *how], {}, place)
