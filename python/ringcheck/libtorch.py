# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m ringcheck.libtorch``: fetches a LibTorch for the judge alone, beside whatever torch is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from ringcheck.program import TORCH, fetched

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
        print(f"ringcheck.libtorch: unknown word {words[0]!r}; it takes none but --help, leave it out", file=sys.stderr)
        sys.exit(2)


def main() -> None:
    _heed(sys.argv[1:])
    target = fetched().parent
    if fetched().exists():
        print(f"is there: {fetched()}")
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = os.path.join(folder, "libtorch")
        subprocess.run([sys.executable, "-m", "pip", "install", "--no-deps", "--target", made, *WHEELS], check=True)
        os.rename(made, target)
    print(fetched())


if __name__ == "__main__":
    main()
