# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""The wheel as a newcomer has it: built from this checkout and its build, installed into a fresh environment that has
the torch of this one and no other path to this checkout. It needs no network.

RINGCHECK_WHEEL_TIMES names a file for how long a first verdict takes there."""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import zipfile

import pytest
from runs import ROOT, blocks

BUILD = pathlib.Path(os.environ.get("RINGCHECK_PROGRAM", ROOT / "build/release/bin/ringcheck")).resolve().parents[1]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
OFFLINE = ["--no-index", "--no-deps"]


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def newcomer():
    """The variables of a shell that knows nothing of this build; compiled Python is kept where it is told to."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("RINGCHECK_", "PYTHON")) or name == "PYTHONPYCACHEPREFIX"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Of a copy: a build leaves files beside what it builds. Nothing is in PATH."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT / "python", folder / "python", ignore=shutil.ignore_patterns("tests", "__pycache__"))
    run(*PIP, "wheel", *OFFLINE, "--no-build-isolation", "--wheel-dir", folder, folder / "python",
        env=newcomer() | {"RINGCHECK_BUILD": str(BUILD), "PATH": str(folder)})
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of programs of a fresh environment."""
    environment = tmp_path_factory.mktemp("fresh") / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    run(*PIP, "--python", environment / "bin" / "python", "install", *OFFLINE, wheel, env=newcomer())
    # What `pip install torch==2.11.0` would have put there.
    site = next(environment.glob("lib/python3*/site-packages"))
    found = (importlib.util.find_spec(name).origin for name in ("torch", "typing_extensions", "sympy"))
    folders = {str(pathlib.Path(one).parents[0 if one.endswith("typing_extensions.py") else 1]) for one in found}
    (site / "torch_of_the_tests.pth").write_text("\n".join(sorted(folders)), encoding="utf-8")
    return environment / "bin"


def test_one_wheel_is_for_every_python(wheel):
    assert re.fullmatch(r"ringcheck-\d+\.\d+\.\d+-py3-none-manylinux_\d+_\d+_\w+\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
    assert not [name for name in names if "/tests/" in name or ".egg-info" in name or name.endswith(".pyc")], names
    # By the names that they are asked for: by the linker, and while it runs.
    for library in ("libringcheck.so.0.1", "libringcheck_command.so", "libringcheck_mpi.so"):
        assert f"ringcheck/bundle/lib/{library}" in names, names


def test_the_command_is_there(installed):
    said = run(installed / "ringcheck", "--version", env=newcomer())
    assert said.startswith("RingCheck ") and "no MPI" not in said, said
    run(installed / "python", "-m", "ringcheck.doctor", env=newcomer())


def test_readme_gives_a_verdict(installed, tmp_path):
    (name, text), = blocks("docs/own.md").items()
    (tmp_path / name).write_text(text, encoding="utf-8")
    seconds = []
    for _ in range(3 if "RINGCHECK_WHEEL_TIMES" in os.environ else 1):
        begin = time.monotonic()
        said = run(installed / "python", name, cwd=tmp_path, env=newcomer())
        seconds.append(time.monotonic() - begin)
        assert said.splitlines()[-1] == "True", said
    if "RINGCHECK_WHEEL_TIMES" in os.environ:
        pathlib.Path(os.environ["RINGCHECK_WHEEL_TIMES"]).write_text(json.dumps(seconds), encoding="utf-8")
