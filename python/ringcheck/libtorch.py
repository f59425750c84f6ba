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


def main() -> None:
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
