# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks that a launcher started judge their function themselves: the judge is a library beside their own torch."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import functools
import json
import os
import pathlib
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator

from ringcheck import description, program
from ringcheck.case import Case
from ringcheck.subject import Subject

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT")  # that the judge takes


def library() -> pathlib.Path | None:
    """libringcheck.so beside the program; None where there is no program, or none beside it."""
    place = pathlib.Path(program.command()[0]).resolve().parent
    for folder in (place.parent / "lib", place / "lib", place.parent):
        found = sorted(folder.glob("libringcheck.so*"))
        if found and (folder / "libringcheck_command.so").exists():
            return found[0]
    return None


def why_not_here() -> str | None:
    """Why no function can be judged in a process of this Python, or None."""
    here = program.torch_here()
    if here is None or program.version_of(here) != program.TORCH:
        return f"this Python has {program.described(here)}, and the judge's library needs {program.TORCH}; install that one"
    if library() is None:
        return f"no libringcheck.so beside {program.command()[0]}; install the package, or build all of it"
    try:
        _entry()
    except (OSError, AttributeError) as error:
        return f"{library()} cannot be used: {error}; install the package anew, or build all of it"
    return None


def why_not(subject: Subject) -> str | None:
    """Why this function cannot be judged in this process, or None."""
    if subject.framework != "torch" or subject.whole:
        return "it answers for all ranks at once, or in arrays; let it be called on every rank with tensors"
    if why := why_not_here():
        return why
    from torch import distributed

    if distributed.is_initialized():
        return "torch.distributed has a process group already; call verify before init_process_group"
    return None


class Ranks:
    """Answers the judge on this rank."""

    def __init__(self, subject: Subject, function: str, together: object) -> None:
        from ringcheck import rank
        from ringcheck.memory import OwnMemory

        memory = OwnMemory()
        self._subject, self._function, self._together = subject, function, together
        self._rank = rank.Rank(subject, memory, memory, together)
        self._said = ctypes.create_string_buffer(b"")

    def answer(self, question: bytes) -> int:
        """The address of a text, which stays until the next one."""
        try:
            said = self._answer(json.loads(question))
        except Exception as error:
            traceback.print_exc()
            said = {"error": f"{type(error).__name__}: {error}"}
        self._said = ctypes.create_string_buffer(json.dumps(said).encode())
        return ctypes.addressof(self._said)

    def _answer(self, question: dict) -> dict:
        with contextlib.redirect_stdout(sys.stderr):
            if question["do"] == "run":
                return self._together.agreed(self._called(question))
            return getattr(self, "_" + question["do"])(question)

    def _called(self, question: dict) -> dict:
        from ringcheck import rank

        on_gpu = question["case"]["parts"]["device"] == "cuda"
        try:
            with self._together.ends_with_others() if on_gpu else contextlib.nullcontext():
                return rank.answered(self._rank, question, self._subject, self._function)
        except SystemExit as error:
            return {"error": f"{self._subject.name} exits with {error.code}"}
        except KeyboardInterrupt:
            os._exit(128 + signal.SIGINT)

    def _describe(self, question: dict) -> dict:
        case = Case.of(question["case"])
        return description.described(self._subject, case, most_ranks(case))

    def _cut(self, question: dict) -> dict:
        return description.cut(self._subject, question["length"], question["world"])


def most_ranks(case: Case) -> int:
    """How many can take part: any number (0), but that NCCL takes a GPU a rank on each host."""
    if case.device == "cpu":
        return 0
    import torch

    gpus = torch.cuda.device_count()
    return 0 if gpus >= int(os.environ.get("LOCAL_WORLD_SIZE", case.world)) else max(1, gpus)


def _load_cuda() -> None:
    """What libringcheck_cuda.so is linked to and torch has not loaded by itself, from the folders beside torch."""
    import torch

    if torch.cuda.is_available():
        for found in pathlib.Path(torch.__file__).parents[1].glob("nvidia/*/lib/libnvrtc.so.*"):
            ctypes.CDLL(str(found), mode=ctypes.RTLD_GLOBAL)


@functools.cache
def _entry() -> tuple:
    """The function of the library, and the type of what it calls."""
    import torch  # noqa: F401  its LibTorch is the one that the library finds

    _load_cuda()
    answer = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)
    verify = ctypes.CDLL(str(library())).ringcheck_verify_python
    verify.argtypes = (ctypes.c_int32, ctypes.POINTER(ctypes.c_char_p), ctypes.c_char_p, answer, ctypes.c_int32)
    verify.restype = ctypes.c_int32
    return verify, answer


@contextlib.contextmanager
def _as_before() -> Iterator[int]:
    """What the judge sets for the whole process is set back behind it. The descriptor of a file to which stacks go."""
    import torch

    threads, told = torch.get_num_threads(), faulthandler.is_enabled()
    handlers = {one: signal.getsignal(one) for one in map(signal.Signals.__getitem__, SIGNALS)}
    with tempfile.TemporaryFile() as stacks:
        faulthandler.register(signal.SIGUSR2, file=stacks, all_threads=True)
        try:
            yield stacks.fileno()
        finally:
            faulthandler.unregister(signal.SIGUSR2)
            for number, handler in handlers.items():
                if handler is not None:
                    signal.signal(number, handler)
            if told:
                faulthandler.disable()
                faulthandler.enable()
            torch.set_num_threads(threads)


def judged(subject: Subject, function: str, words: list[str], together: object) -> int:
    """The exit code of the command with these words, those that follow `ringcheck verify`, on all ranks."""
    from ringcheck import rank

    verify, kind = _entry()
    rank.load_tensors(subject)
    ranks = Ranks(subject, function, together)
    options = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    sys.stdout.flush()
    with _as_before() as stacks, together.store_is_kept():
        return verify(len(words), options, function.encode(), kind(ranks.answer), stacks)
