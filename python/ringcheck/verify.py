# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""A function, judged."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from ringcheck import in_process as within
from ringcheck import launched, load, program
from ringcheck.order import Order, check_declared, check_names, order, texts
from ringcheck.subject import Refused, Subject, subject

#: Exit codes of the program (docs/cli.md).
PASSED, FAILED, USAGE, DEAD, INCONCLUSIVE, NOTHING_RAN = 0, 1, 2, 5, 6, 77


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Of one case."""

    case: str  #: its text
    verdict: str  #: pass | fail | hang | crash | inconclusive | not_supported | skipped
    reason: str
    findings: list[str]  #: which oracle found what, by tensor and rank; of a case that did not pass, of those that say why
    reproduce: str  #: the command that runs it again
    explained: list[str] = dataclasses.field(default_factory=list)  #: what would explain its tensors: "dk and dv: 2 times what is expected; ..."

    def __str__(self) -> str:
        said = [self.reason] if self.reason else []
        return "\n  ".join([f"{self.verdict}: {self.case}", *said, *self.explained, *self.findings, f"reproduce: {self.reproduce}"])


@dataclasses.dataclass(frozen=True)
class Result:
    """Of a run: the result file of docs/cli.md, and what is asked for most."""

    exit_code: int
    json: dict  #: the result file

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
                if case["verdict"] == "pass" or oracle.get("verdict") not in ("pass", "not_applicable")
                for finding in oracle.get("findings", [])]
    return Verdict(case["name"], case["verdict"], case.get("reason", ""), findings + case.get("findings", []),
                   case.get("reproduce") or f"ringcheck verify --case '{case['name']}'", case.get("explained", []))


def verify(function: Callable | Subject, *, json_file: str | os.PathLike | None = None, in_process: bool | None = None,
           **which: Any) -> Result:
    """Judges a function against float64, as ``ringcheck verify`` does, and prints what that prints.

    function: of a file, as `ringcheck.subject` declares it. which: profile ("smoke"), whose cases are made such
    that the function takes them, of which world, dtype and mask (a value, or several) leave those asked for; or
    seq with them, a case of every combination; or cases, a list of texts. device ("cpu"), oracles, deadline
    (seconds of silence), jobs, options (further words for the command): docs/cli.md. json_file: keeps the result.

    in_process: of the ranks of a launcher, that each calls the function itself, in place of a process beside it. None:
    where that can be, but with GPUs on several hosts alone. Else the ranks are processes that load the same file, and
    do not call this again.

    Throws Refused where that cannot be, as the program says it.
    """
    if load.is_rank:
        raise load.Loaded
    check_names("verify", which, ("json_file", "in_process"))
    if json_file is not None and (not isinstance(json_file, (str, os.PathLike)) or not os.fspath(json_file)):
        raise Refused(f"json_file={json_file!r}; want the path of a file, or leave it out")
    if json_file is not None and os.path.isdir(json_file):
        raise Refused(f"json_file={os.fspath(json_file)!r} is a folder; want the path of a file in it")
    here = launched.world()
    if here is not None:
        return _that_ran(_by_all(function, here, in_process, json_file, which))
    if in_process:
        raise Refused("in_process=True, but nobody started this program as one of several ranks; start it by torchrun, or "
                      "leave it out")
    result = _here(function, json_file, which)
    if which.get("seq") is not None:
        _note_left_out(function if isinstance(function, Subject) else subject(function), which, result)
    return result


def _note_left_out(judged: Subject, which: dict, result: Result) -> None:
    """Of what a function declares, what no case had, where nobody said which to take."""
    for name, declared in (("mask", judged.masks), ("dtype", judged.dtypes)):
        had = {case["parts"][name].split("[")[0] for case in result.json.get("cases", ())}
        left = [one for one in declared if one.split("[")[0] not in had]
        if which.get(name) is None and had and left:
            print(f"ringcheck: no case had {name} {', '.join(left)}, which are declared; ask for them by {name}=[...]", file=sys.stderr)


def _by_all(function: Callable | Subject, here: launched.Launched, in_process: bool | None,
            json_file: str | os.PathLike | None, which: dict) -> Result:
    """On the ranks of a launcher: in their processes where that can be, or is asked for."""
    if which.get("cases") is None:
        if which.setdefault("world", here.size) != here.size:
            raise Refused(f"world={which['world']!r}, but {here.size} ranks were started; leave one of them out")
    judged = function if isinstance(function, Subject) else subject(function)
    if in_process is None and here.hosts == 1 and _asks_for_gpus(which):
        in_process = False
    why_not = "in_process=False" if in_process is False else within.why_not(judged)
    if why_not is None:
        return _in_process(judged, here, json_file, which)
    if here.hosts > 1:
        raise Refused(f"{here}: functions are judged there in the processes of the ranks, and not here: {why_not}; or start "
                      "all ranks on one host")
    if in_process:
        raise Refused(f"in_process=True, and {why_not}")
    return _beside(function, here, json_file, which)


def _asks_for_gpus(which: dict) -> bool:
    return which.get("device") == "cuda" or any("/cuda/" in case for case in _texts(which))


def _texts(which: dict) -> list[str]:
    return [] if which.get("cases") is None else texts(which["cases"])


def _in_process(judged: Subject, here: launched.Launched, json_file: str | os.PathLike | None, which: dict) -> Result:
    """Every rank calls the function itself, and rank 0 judges."""
    from ringcheck.together import Together  # needs torch

    own = order(judged, **which)
    together = Together(here.rank, here.size)
    try:
        asked = Order(**json.loads(together.told(json.dumps(dataclasses.asdict(own)))))
        words, only = asked.words[1:], judged.only(asked.only)
        if here.rank > 0:
            return Result(within.judged(only, asked.function, words, together), json.loads(together.told()))
        with _result_file(json_file) as file:
            code = within.judged(only, asked.function, [*words, "--json", str(file.path)], together)
            return Result(code, json.loads(together.told(json.dumps(file.content()))))
    finally:
        together.end()


def _beside(function: Callable | Subject, here: launched.Launched, json_file: str | os.PathLike | None,
            which: dict) -> Result:
    """Rank 0 judges, with as many processes of its own; the others have its result."""
    if here.rank > 0:
        return Result(*launched.hear())
    everybody = launched.Everybody(here.size)
    result = Result(USAGE, {})
    try:
        result = _here(function, json_file, which)
    finally:
        everybody.tell(result.exit_code, result.json)
    return result


def _here(function: Callable | Subject, json_file: str | os.PathLike | None, which: dict) -> Result:
    """By the program, whose ranks load the file of the function."""
    check_declared(function)
    asked = order(function, **which)
    with _result_file(json_file) as file:
        sys.stdout.flush()
        code = program.run([*asked.words, "--json", str(file.path)], asked.variables)
        result = Result(code, file.content())
    if _is_refused(result) and (said := program.refusal([*asked.words, *_kept(json_file)], asked.variables)):
        raise Refused(said)
    return _that_ran(result)


def _kept(json_file: str | os.PathLike | None) -> list[str]:
    return [] if json_file is None else ["--json", os.fspath(json_file)]


def _is_refused(result: Result) -> bool:
    return result.exit_code == USAGE and not result.json


def _that_ran(result: Result) -> Result:
    if _is_refused(result):
        raise Refused("refused with exit code 2 before any case; why, stands on standard error, under a launcher on that of rank 0")
    return result


class _ResultFile:
    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._before = path.stat().st_mtime_ns if path.exists() else None

    def content(self) -> dict:
        """Empty where nothing was written since."""
        if not self.path.exists() or self.path.stat().st_mtime_ns == self._before:
            return {}
        return json.loads(self.path.read_text(encoding="utf-8"))


@contextlib.contextmanager
def _result_file(asked: str | os.PathLike | None) -> Iterator[_ResultFile]:
    """The one that is asked for, or another one for a while."""
    with tempfile.TemporaryDirectory(prefix="ringcheck-") as folder:
        yield _ResultFile(pathlib.Path(asked) if asked else pathlib.Path(folder) / "result.json")
