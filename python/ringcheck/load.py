# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""A function by the file that it stands in."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import sys
import traceback

from ringcheck.subject import Refused, Subject, subject


class Loaded(BaseException):
    """The file went on to verify: what it defines before that is defined."""


#: The variable that says which of what a subject takes is asked for.
ONLY = "RINGCHECK_ONLY"

#: Whether this process is a rank, which loads a file for one function in it.
is_rank = False


def where(error: BaseException, file: str) -> str:
    """The exception in one line, with the place in the user's file where it came from."""
    lines = [frame for frame in traceback.extract_tb(error.__traceback__)
             if pathlib.Path(frame.filename).name == pathlib.Path(file).name]
    place = f" ({pathlib.Path(file).name}, line {lines[-1].lineno}, in {lines[-1].name})" if lines else ""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}{': ' + text[0] if text else ''}{place}"


def _module(file: str) -> object:
    path = pathlib.Path(file).resolve()
    if not path.is_file():
        raise Refused(f"'{file}' is no file")
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise Refused(f"'{file}' is no Python file; want one that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except Loaded:
        pass
    return module


def found_in(module: object, name: str) -> object:
    """What a module has by this name, of which each part is an attribute of what is before it; None where it has nothing."""
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


def load(function: str) -> Subject:
    """The function that FILE:NAME says, as a subject."""
    file, _, name = function.rpartition(":")
    if file.startswith("ringcheck.adapters."):
        module: object = importlib.import_module(file)
    else:
        module = _module(file)
    found = found_in(module, name)
    if found is None:
        known = sorted(key for key, value in vars(module).items() if isinstance(value, Subject))
        raise Refused(f"'{file}' has no {name}" + (f"; subjects in it: {', '.join(known)}" if known else ""))
    if isinstance(found, Subject):
        return found.only(json.loads(os.environ.get(ONLY) or "{}"))
    if not callable(found):
        raise Refused(f"{name} in '{file}' is a {type(found).__name__}; want a function")
    return subject(found)
