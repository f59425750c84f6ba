# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""The program that judges, and the LibTorch that it is linked to."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys

from ringcheck import launched
from ringcheck.subject import Refused

#: What the program was built with; another version has other symbols.
TORCH = "2.11.0"


def libtorch() -> pathlib.Path:
    """The folder with lib/libtorch_cpu.so: of RINGCHECK_TORCH, of this environment where its torch is the one
    that the program was built with, or fetched before by ``python -m ringcheck.libtorch``."""
    said = os.environ.get("RINGCHECK_TORCH")
    if said:
        return pathlib.Path(said)
    here = torch_here()
    if here is not None and version_of(here) == TORCH:
        return here
    if fetched().exists():
        return fetched()
    raise Refused(f"the judge needs LibTorch {TORCH} and this Python has {described(here)}; fetch one for it alone, beside yours: "
                  "python -m ringcheck.libtorch (545 MB, once)")


def torch_here() -> pathlib.Path | None:
    """The folder of this environment's torch."""
    spec = importlib.util.find_spec("torch")
    places = list(spec.submodule_search_locations or []) if spec else []
    return pathlib.Path(places[0]) if places else None


def version_of(torch: pathlib.Path) -> str | None:
    """Of a torch folder, without its build. None where it has no version.py, as a folder of that name, or sources."""
    file = torch / "version.py"
    if not file.is_file():
        return None
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("__version__"):
            return line.split("=")[1].strip().strip("'\"").split("+")[0]
    return "unknown"


def described(torch: pathlib.Path | None) -> str:
    """What this environment has."""
    if torch is None:
        return "no torch"
    version = version_of(torch)
    return f"torch {version}" if version else f"{torch}, which has no version.py"


def fetched() -> pathlib.Path:
    """Where a LibTorch of the judge's own is kept."""
    cache = os.environ.get("RINGCHECK_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "ringcheck")
    return pathlib.Path(cache) / f"libtorch-{TORCH}" / "torch"


def command() -> list[str]:
    """The words that start the program: of RINGCHECK_PROGRAM, of this package, or of a build of the sources
    beside it."""
    said = os.environ.get("RINGCHECK_PROGRAM")
    here = pathlib.Path(__file__).resolve().parent
    candidates = [[said]] if said else [[str(here / "bundle" / "lib" / "ringcheck" / "run"), "ringcheck"],
                                        [str(here.parents[1] / "build" / "release" / "bin" / "ringcheck")]]
    for words in candidates:
        if os.path.isfile(words[0]):
            return words
    looked = ", ".join(words[0] for words in candidates)
    raise Refused(f"no program ringcheck: looked for {looked}; RINGCHECK_PROGRAM names one")


def environment() -> dict[str, str]:
    """Of the program: its LibTorch, and this Python for the functions that it judges."""
    package = str(pathlib.Path(__file__).resolve().parents[1])
    paths = [package] + [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    return launched.without_launcher(dict(os.environ)) | {"RINGCHECK_TORCH": str(libtorch()), "RINGCHECK_PYTHON": sys.executable,
                         "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def run(arguments: list[str], variables: dict[str, str]) -> int:
    """Runs the command here and gives its exit code."""
    return subprocess.run([*command(), *arguments], env=variables, check=False).returncode


def refusal(arguments: list[str], variables: dict[str, str]) -> str:
    """What the program says of arguments that it has refused, asked once more, without work; "" where it takes them."""
    asked = subprocess.run([*command(), *arguments, "--list"], env=variables, capture_output=True, text=True, check=False)
    lines = [line for line in asked.stderr.splitlines() if line.startswith("ringcheck")]
    return lines[-1].partition(": ")[2] if asked.returncode == 2 and lines else ""


def main() -> None:
    """The command ``ringcheck``."""
    try:
        words, variables = command(), environment()
    except Refused as error:
        print(f"ringcheck: {error}", file=sys.stderr)
        sys.exit(2)
    os.execve(words[0], [*words, *sys.argv[1:]], variables)
