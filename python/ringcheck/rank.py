# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""The process of a rank: calls the function for the judge.

The judge has the other end of a socket, and of memory for tensors each way; a line of JSON is a question,
a line of JSON is the answer. ``python -m ringcheck.rank FILE:NAME SOCKET THERE BACK`` is not meant to be typed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import os
import socket
import sys
import traceback
from typing import TYPE_CHECKING, Any, NoReturn

from ringcheck import child, load
from ringcheck.case import Case
from ringcheck.group import Meetings
from ringcheck.memory import Memory, OwnMemory
from ringcheck.subject import Refused, Result, Subject

if TYPE_CHECKING:
    from ringcheck.together import Together  # needs torch


class Rank:
    """The function, and what is kept from question to question."""

    def __init__(self, subject: Subject, there: Memory | OwnMemory, back: Memory | OwnMemory,
                 meetings: Meetings | Together) -> None:
        self._subject, self._there, self._back, self._meetings = subject, there, back, meetings

    def answer(self, question: dict) -> dict:
        return getattr(self, "_" + question["do"])(question)

    def _offer(self, _: dict) -> dict:
        return {"port": self._meetings.offer()}

    def _run(self, question: dict) -> dict:
        import torch

        from ringcheck import held, torch_tensors, traffic

        case = Case.of(question["case"])
        if case.device == "cuda":
            torch.cuda.set_device(self._meetings.gpu(question["group"]["world_ranks"][question["rank"]]))
        group = self._meetings.meet(question["group"] | {"device": case.device}, question["rank"])
        call = torch_tensors.Call(case, question["inputs"], self._there)
        case = dataclasses.replace(case, rank=question["rank"], positions=call.positions, d_o=call.d_o)
        sent = traffic.Sent(question["group"]["world_ranks"])
        with held.held_on(call.q.device) as most, sent:
            returned = _returned(self._subject(call.q, call.k, call.v, case=case, group=group))
            tensors = _tensors(returned) if isinstance(returned, Result) else dict(zip(("o", "lse"), returned))
            if not isinstance(returned, Result) or _leaves_them_to_autograd(returned):
                try:
                    tensors |= call.gradients(tensors["o"], self._subject.shows)
                except Exception:
                    call.check_inputs()  # autograd complains of that in other words
                    raise
        call.check_inputs()
        outputs = self._back.write(torch_tensors, tensors, question.get("back", 0))
        if case.device == "cuda":
            torch.cuda.synchronize()  # behind the copies: what it left unfinished is not waited for before them
        return {"outputs": outputs, "messages": sent.messages, "peak": most.peak}

    def _solve(self, question: dict) -> dict:
        from ringcheck import numpy_tensors

        case = Case.of(question["case"])
        ranks = [{one["name"]: numpy_tensors.read(one, self._there) for one in rank}
                 for rank in question["inputs"]]
        by_rank = {name: [rank[name] for rank in ranks] for name in ("q", "k", "v", "d_o", "positions")}
        case = dataclasses.replace(case, positions=by_rank["positions"], d_o=by_rank["d_o"])
        returned = self._subject(by_rank["q"], by_rank["k"], by_rank["v"], case=case, group=None)
        if not isinstance(returned, Result):
            raise Refused("a function that answers for all ranks returns a ringcheck.Result of lists by rank")
        named = {f"{name}.{rank}": tensor for name, tensors in _tensors(returned).items()
                 for rank, tensor in enumerate(tensors)}
        outputs: list[list[dict]] = [[] for _ in ranks]
        for one in self._back.write(numpy_tensors, named, question["back"]):
            name, rank = one["name"].rsplit(".", 1)
            if int(rank) >= len(outputs):
                raise Refused(f"{name} has {int(rank) + 1} ranks or more; want {len(outputs)}")
            outputs[int(rank)].append(one | {"name": name})
        return {"outputs": outputs}


def _tensors(result: Result) -> dict[str, Any]:
    named = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    return {name: tensor for name, tensor in named.items() if tensor is not None}


def _leaves_them_to_autograd(result: Result) -> bool:
    return result.dq is result.dk is result.dv is None and getattr(result.o, "requires_grad", False)


def _returned(value: Any) -> Result | tuple:
    if isinstance(value, Result):
        return value
    if isinstance(value, (tuple, list)):
        if not 1 <= len(value) <= 2:
            raise Refused(f"it returned {len(value)} values; want o, (o, lse) or a ringcheck.Result")
        return tuple(value)
    if value is None:
        raise Refused("it returned None; want o, (o, lse) or a ringcheck.Result")
    return (value,)


def load_tensors(subject: Subject) -> None:
    """What a first call needs: loading it may take long, and is not waited for as a call is."""
    for module in ("numpy_tensors",) if subject.whole else ("torch_tensors", "traffic", "held"):
        importlib.import_module(f"ringcheck.{module}")
    if not subject.whole:
        with contextlib.suppress(ImportError):  # which a first backward pass imports
            importlib.import_module("torch.fx.experimental.symbolic_shapes")


def answered(rank: Rank, question: dict, subject: Subject, function: str) -> dict:
    """Its answer, or {"error": why}; function: FILE:NAME."""
    try:
        return rank.answer(question)
    except Refused as error:
        return {"error": f"{subject.name}: {error}"}
    except Exception as error:
        traceback.print_exc()
        return {"error": f"{subject.name} raised {load.where(error, function.rpartition(':')[0])}"}


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # which it may have closed
            stream.flush()


def serve(subject: Subject, function: str, judge: int, there: int, back: int) -> NoReturn:
    """Answers until the judge has gone. Descriptors: of the socket, of what is given, of what is returned."""
    rank = Rank(subject, Memory(there), Memory(back), Meetings())
    with contextlib.suppress(BrokenPipeError), socket.socket(fileno=judge) as other_end, other_end.makefile(
            "rw", encoding="utf-8") as line:
        line.write('{"ready": true}\n')
        line.flush()
        while text := line.readline():
            try:
                answer = answered(rank, json.loads(text), subject, function)
            except SystemExit as error:  # at once: others wait for it
                if isinstance(error.code, str):
                    print(error.code, file=sys.stderr)
                _flush()
                os._exit(error.code if isinstance(error.code, int) else 0 if error.code is None else 1)
            _flush()  # what it printed belongs to this case
            line.write(json.dumps(answer) + "\n")
            line.flush()
    _flush()
    os._exit(0)


def main() -> None:
    child.settle()
    load.is_rank = True
    subject = load.load(sys.argv[1])
    load_tensors(subject)
    serve(subject, sys.argv[1], *map(int, sys.argv[2:5]))


if __name__ == "__main__":
    main()
