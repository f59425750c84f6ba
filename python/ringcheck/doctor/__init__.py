# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What stands in the way, which LibTorch judges, and in which processes."""

from __future__ import annotations

import importlib.metadata
import sys

from ringcheck import in_process, program
from ringcheck.subject import Refused


def _where() -> str:
    """Who calls functions, and why."""
    beside = "in processes of their own that a judge process starts, with shared memory between them"
    try:
        why_not = in_process.why_not_here()
    except Refused as error:
        why_not = str(error)
    if why_not is None:
        return f"functions are called {beside}; under torchrun in the processes of the ranks, as {in_process.library()} is linked to this torch"
    return f"functions are called {beside}, also under torchrun: {why_not}"


def _torch() -> tuple[bool, str]:
    """Of the functions, and whether it is one."""
    here = program.torch_here()
    if here is None:
        return True, "no torch here: only functions with framework=\"numpy\" can be judged"
    version = program.version_of(here)
    if version is None:
        return False, f"{here} has no version.py, so it is no PyTorch that is installed; rename it, or start Python elsewhere"
    same = "the judge uses it, too" if version == program.TORCH else f"the judge uses its own, {program.TORCH}"
    return True, f"torch {version} for your functions; {same}"


def doctor() -> bool:
    """Prints what was found, a line each, and whether a function can be judged here."""
    lines: list[tuple[bool, str]] = [(sys.version_info >= (3, 10), f"Python {sys.version.split()[0]}, 3.10 or later is needed")]
    lines.append(_torch())
    for what, find in (("the program", lambda: program.command()[0]), ("the judge's LibTorch", program.libtorch)):
        try:
            lines.append((True, f"{what}: {find()}"))
        except Refused as error:
            lines.append((False, str(error)))
    lines.append((True, _where()))
    for package in ("ml_dtypes", "pytest"):
        try:
            lines.append((True, f"{package} {importlib.metadata.version(package)}"))
        except importlib.metadata.PackageNotFoundError:
            lines.append((True, f"{package} is not installed: needed for " +
                          ("bf16 as NumPy arrays" if package == "ml_dtypes" else "ringcheck.cases")))
    for good, text in lines:
        print(("ok   " if good else "BAD  ") + text)
    return all(good for good, _ in lines)
