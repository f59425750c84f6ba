# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Results, and what `ringcheck report render` makes of them."""
import functools
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "reports/results"
PROGRAM = os.environ.get("RINGCHECK_PROGRAM", "ringcheck")
# Runs of which something is wrong, one of the CPU that passed, and measurements of two programs.
VERIFY = {
    "passed": RESULTS / "cpu_smoke.json",
    "wrong": ["--subject", "planted[wrong_owner]", "--seq", "64", "--oracles", "counters,parity"],
    "crash": ["--subject", "planted[rank_aborts]", "--seq", "64"],
    "refused": ["--kernel", "flash,plain", "--dim", "16", "--dim-v", "8", "--seq", "64"],
}
MEASURED = (RESULTS / "h200_gpu1_reference.json", RESULTS / "h200_gpu2_scaling_nccl.json")
FOLDER = tempfile.TemporaryDirectory()  # removed at the end


def run(*words, **options):
    return subprocess.run([str(word) for word in words], text=True, check=False, capture_output=True, **options)


@functools.cache
def result(name):
    """The file of a run of verify."""
    if isinstance(VERIFY[name], pathlib.Path):
        return VERIFY[name]
    path = pathlib.Path(FOLDER.name, f"{name}.json")
    run(PROGRAM, "verify", *VERIFY[name], "--json", path)
    return path


def rendered(path, form):
    target = pathlib.Path(FOLDER.name, f"{path.stem}.{form}")
    done = run(PROGRAM, "report", "render", path, "--as", form, "-o", target)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return target


def changed(path, change):
    """A copy of a result in which something differs."""
    data = json.loads(path.read_text())
    change(data)
    copy = pathlib.Path(FOLDER.name, f"changed_{path.name}")
    copy.write_text(json.dumps(data))
    return copy
