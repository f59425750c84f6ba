# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m ringcheck.interpreter FILE:NAME``: loads a function for the judge, and starts the processes of
its ranks. Not meant to be typed.

The judge has the other end of a socket: a line of JSON is a question, a line of JSON is the answer.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

from ringcheck import child, description, load, rank
from ringcheck.case import Case
from ringcheck.subject import Refused, Subject

SOCKET = 3
TO_END = 3.0  # seconds, of a process that has closed its socket


def ended(status: int) -> str:
    """A status of os.waitpid, in words."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"was ended by signal {number} ({signal.strsignal(number)})"
    return f"ended with exit code {os.waitstatus_to_exitcode(status)}"


def may_fork() -> bool:
    """A copy of this process is as good as a new one: nothing in it that a copy would not have."""
    torch = sys.modules.get("torch")
    return threading.active_count() == 1 and "jax" not in sys.modules and not (
        torch is not None and (torch.cuda.is_initialized() or torch.get_num_threads() > 1))


def most_ranks(subject: Subject, case: Case) -> int:
    """How many processes may take part; 0: any number. NCCL takes a GPU a rank."""
    if case.device == "cpu" or subject.framework != "torch" or subject.whole:
        return 0
    import torch

    return max(1, torch.cuda.device_count())


class Interpreter:
    """The loaded function, and the processes of its ranks."""

    def __init__(self, function: str, judge: socket.socket) -> None:
        self._function, self._judge = function, judge
        self.subject: Subject = load.load(function)
        rank.load_tensors(self.subject)  # once, for all copies of this process
        self._started: dict[int, subprocess.Popen | None] = {}

    def answer(self, question: dict, descriptors: list[int]) -> dict:
        return getattr(self, "_" + question["do"])(question, descriptors)

    def _describe(self, question: dict, _: list[int]) -> dict:
        case = Case.of(question["case"])
        return description.described(self.subject, case, most_ranks(self.subject, case))

    def _cut(self, question: dict, _: list[int]) -> dict:
        return description.cut(self.subject, question["length"], question["world"])

    def _start(self, _: dict, descriptors: list[int]) -> dict:
        self._reap()
        if not may_fork():
            process = subprocess.Popen([sys.executable, "-m", "ringcheck.rank", self._function,
                                        *map(str, descriptors)], pass_fds=descriptors)
            self._started[process.pid] = process
            return {"pid": process.pid}
        pid = os.fork()
        if pid == 0:
            self._judge.close()
            child.end_with_parent()
            rank.serve(self.subject, self._function, *descriptors)
        self._started[pid] = None
        return {"pid": pid}

    def _end(self, question: dict, _: list[int]) -> dict:
        pid = question["pid"]
        self._started.pop(pid)
        end = time.monotonic() + TO_END
        while time.monotonic() < end:
            gone, status = os.waitpid(pid, os.WNOHANG)
            if gone:
                return {"ended": ended(status)}
            time.sleep(0.01)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return {"ended": "closed its socket, and did not end"}

    def _reap(self) -> None:
        """Those that the judge has ended."""
        for pid in list(self._started):
            if os.waitpid(pid, os.WNOHANG)[0]:
                self._started.pop(pid)


def _hear(judge: socket.socket) -> tuple[dict, list[int]] | None:
    data, descriptors = b"", []
    while not data.endswith(b"\n"):
        more, came, _, _ = socket.recv_fds(judge, 1 << 16, 4)
        if not more:
            return None
        data += more
        descriptors += came
    return json.loads(data), descriptors


def main() -> None:
    child.settle()
    judge = socket.socket(fileno=SOCKET)

    def say(answer: dict) -> None:
        judge.sendall((json.dumps(answer) + "\n").encode())

    function = sys.argv[1]
    load.is_rank = True
    try:
        interpreter = Interpreter(function, judge)
    except Refused as error:
        say({"error": str(error)})
        return
    except BaseException as error:
        traceback.print_exc()
        say({"error": f"cannot be loaded: {load.where(error, function.rpartition(':')[0])}"})
        return
    say({"whole": interpreter.subject.whole})
    while heard := _hear(judge):
        question, descriptors = heard
        try:
            say(interpreter.answer(question, descriptors))
        except Exception as error:
            traceback.print_exc()
            say({"error": f"{interpreter.subject.name}: {load.where(error, function.rpartition(':')[0])}"})
        for descriptor in descriptors:
            os.close(descriptor)


if __name__ == "__main__":
    main()
