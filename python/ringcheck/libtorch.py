# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m ringcheck.libtorch``: fetches a LibTorch for the judge alone, beside whatever torch is installed."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
from typing import NoReturn

from ringcheck.program import TORCH, fetched
from ringcheck.subject import Refused

#: libtorch_cpu.so of the wheel is linked to the two CUDA libraries.
WHEELS = (f"torch=={TORCH}", "nvidia-cuda-cupti==13.0.85", "nvidia-cuda-runtime==13.0.96")


HELP = f"""python -m ringcheck.libtorch   fetches LibTorch {TORCH} for the judge alone (545 MB, once), beside whatever torch
is installed, into the folder ringcheck of ~/.cache, of XDG_CACHE_HOME, or into RINGCHECK_CACHE. It takes no arguments."""


def _heed(words: list[str]) -> None:
    """Ends this where words are given."""
    if {"-h", "--help"} & set(words):
        print(HELP)
        sys.exit(0)
    if words:
        _end(f"unknown word {words[0]!r}; it takes none but --help, leave it out")


def _end(why: str) -> NoReturn:
    print(f"ringcheck.libtorch: {why}", file=sys.stderr)
    sys.exit(2)


def _fetch(target: pathlib.Path) -> None:
    """Puts it there, all of it at once; where another one did so meanwhile, that one stays."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = os.path.join(folder, "libtorch")
        pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", made, *WHEELS]
        code = subprocess.run(pip, check=False).returncode
        if code != 0:
            raise Refused(f"pip could not install {WHEELS[0]} and ended with exit code {code}, for the reason above; run "
                          "this with a network, or name a LibTorch in RINGCHECK_TORCH")
        try:
            os.rename(made, target)
        except OSError:
            if not fetched().exists():
                raise


def main() -> None:
    _heed(sys.argv[1:])
    target = fetched().parent
    left = target.exists()  # looked for first: another run puts all of it there at once
    if fetched().exists():
        print(f"is there: {fetched()}")
        return
    try:
        if left:
            raise Refused(f"{target} is there without a folder torch in it; remove it, and run this again")
        _fetch(target)
    except OSError as error:
        _end(f"cannot write {target.parent}: {error.strerror}; name another folder in RINGCHECK_CACHE")
    except Refused as error:
        _end(str(error))
    print(fetched())


if __name__ == "__main__":
    main()
