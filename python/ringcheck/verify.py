# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""A function, judged."""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from ringcheck import launched, load, program
from ringcheck.subject import Refused, Subject

#: Exit codes of the program (docs/cli.md).
PASSED, FAILED, USAGE, DEAD, INCONCLUSIVE, NOTHING_RAN = 0, 1, 2, 5, 6, 77


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Of one case."""

    case: str  #: its text
    verdict: str  #: pass | fail | hang | crash | inconclusive | not_supported | skipped
    reason: str
    findings: list[str]  #: which oracle found what, by tensor and rank
    reproduce: str  #: the command that runs it again

    def __str__(self) -> str:
        said = [self.reason] if self.reason else []
        return "\n  ".join([f"{self.verdict}: {self.case}", *said, *self.findings, f"reproduce: {self.reproduce}"])


@dataclasses.dataclass(frozen=True)
class Result:
    """Of a run: the result file of docs/cli.md, and what is asked for most."""

    exit_code: int
    json: dict  #: the result file; empty where nothing could be run

    @property
    def passed(self) -> bool:
        """Every case that ran passed, and one did."""
        return self.exit_code == PASSED

    @property
    def verdicts(self) -> list[Verdict]:
        """Of every case, those that are not supported included."""
        return [_verdict(case) for case in self.json.get("cases", [])]

    @property
    def failures(self) -> list[Verdict]:
        """Those that neither passed nor were refused."""
        return [one for one in self.verdicts if one.verdict not in ("pass", "not_supported")]

    def __bool__(self) -> bool:
        return self.passed


def _verdict(case: dict) -> Verdict:
    findings = [f"{oracle['name']}: {finding}" for oracle in case.get("oracles", [])
                for finding in oracle.get("findings", [])]
    return Verdict(case["name"], case["verdict"], case.get("reason", ""), findings + case.get("findings", []),
                   case.get("reproduce") or f"ringcheck verify --case '{case['name']}'")


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


def _values(value: Any) -> list[str]:
    return [str(one) for one in ([value] if isinstance(value, (str, int, float)) else value)]


def _words(name: str, value: Any) -> list[str]:
    return [f"--{name}", ",".join(_values(value))] if value is not None else []


@dataclasses.dataclass(frozen=True)
class Order:
    """What is to be run: words for the program, and what of a subject is meant, for its processes."""

    words: list[str]
    only: dict[str, list[str]]

    @property
    def variables(self) -> dict[str, str]:
        return program.environment() | {load.ONLY: json.dumps(self.only)}


def order(
    function: Callable | Subject,
    *,
    profile: str | None = None,
    cases: Sequence[str] | None = None,
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
    name = f"python[{spelled(function)}]"
    how = [word for key, value in (("oracles", oracles), ("deadline", deadline), ("jobs", jobs))
           for word in _words(key, value)] + [*options]
    if cases:
        if given:
            raise Refused(f"cases and {given[0]} contradict each other: a case says every part itself; leave one out")
        texts = [case if case.startswith("subject:") else f"subject:{name}/{case}" for case in cases]
        return Order(["verify", *(word for text in texts for word in ("--case", text)), *how], {})
    words = ["verify", "--subject", name, *_words("device", device)]
    if seq is None:
        only = {f"{key}s": _values(value) for key, value in parts.items() if value is not None}
        return Order([*words, "--profile", profile or "smoke", *how], only)
    if profile is not None:
        raise Refused("profile and seq contradict each other: a profile has lengths of its own; leave one out")
    return Order([*words, *_words("seq", seq), *(word for key, value in parts.items() for word in _words(key, value)),
                  *how], {})


def verify(function: Callable | Subject, *, json_file: str | os.PathLike | None = None, **which: Any) -> Result:
    """Judges a function against float64, as ``ringcheck verify`` does, and prints what that prints.

    function: of a file, as `ringcheck.subject` declares it. which: profile ("smoke"), whose cases are made such
    that the function takes them, of which world, dtype and mask (a value, or several) leave those asked for; or
    seq with them, a case of every combination; or cases, a list of texts. device ("cpu"), oracles, deadline
    (seconds of silence), jobs, options (further words for the command): docs/cli.md. json_file: keeps the result.

    Throws Refused where that cannot be. Not called again by the ranks, which load the same file.
    """
    if load.is_rank:
        raise load.Loaded
    here = launched.world()
    if here is not None:
        return _by_all(function, *here, json_file, which)
    return _here(order(function, **which), json_file)


def _by_all(function: Callable | Subject, rank: int, size: int, json_file: str | os.PathLike | None,
            which: dict) -> Result:
    """Rank 0 of a launcher judges, with as many processes of its own; the others have its result."""
    if not which.get("cases"):
        if which.setdefault("world", size) != size:
            raise Refused(f"world={which['world']!r}, but {size} ranks were started; leave one of them out")
    if rank > 0:
        return Result(*launched.hear())
    everybody = launched.Everybody(size)
    result = Result(USAGE, {})
    try:
        result = _here(order(function, **which), json_file)
    finally:
        everybody.tell(result.exit_code, result.json)
    return result


def _here(asked: Order, json_file: str | os.PathLike | None) -> Result:
    with tempfile.TemporaryDirectory(prefix="ringcheck-") as folder:
        file = pathlib.Path(json_file) if json_file else pathlib.Path(folder) / "result.json"
        before = file.stat().st_mtime_ns if file.exists() else None
        sys.stdout.flush()
        code = program.run([*asked.words, "--json", str(file)], asked.variables)
        is_new = file.exists() and file.stat().st_mtime_ns != before
        return Result(code, json.loads(file.read_text(encoding="utf-8")) if is_new else {})
