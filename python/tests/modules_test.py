# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What is run by ``python -m``."""

import os
import subprocess
import sys

import pytest
from ringcheck.program import TORCH
from runs import ROOT

# Stands for pip: LibTorch is there at once, and at the same time by another run.
PIP = """
import pathlib, sys
made = pathlib.Path(sys.argv[sys.argv.index("--target") + 1])
for folder in (made, made.parents[1] / "libtorch-TORCH"):
    (folder / "torch").mkdir(parents=True)
""".replace("TORCH", TORCH)


def module(name, *words, cwd=None, **changed):
    return subprocess.run([sys.executable, "-m", f"ringcheck.{name}", *words], env=os.environ | changed, cwd=cwd,
                          capture_output=True, text=True, timeout=120, check=False)


def test_doctor_warns_of_nothing():
    run = module("doctor")
    assert run.returncode == 0 and not run.stderr, run.stderr


@pytest.mark.parametrize("is_package", [False, True])
def test_doctor_names_a_torch_without_a_version(tmp_path, is_package):
    (tmp_path / "torch").mkdir()
    if is_package:
        (tmp_path / "torch" / "__init__.py").touch()
    run = module("doctor", cwd=tmp_path, PYTHONPATH=str(ROOT / "python"))
    assert run.returncode == 1 and not run.stderr, run.stderr
    assert f"BAD  {tmp_path}/torch has no version.py" in run.stdout, run.stdout
    assert f"this Python has {tmp_path}/torch, which has no version.py" in run.stdout, run.stdout


def test_doctor_stays_a_function():
    said = "import ringcheck.doctor; import ringcheck; print(callable(ringcheck.doctor))"
    run = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert run.stdout == "True\n"


def test_libtorch_fetches_nothing_where_it_is_given_words(tmp_path):
    for words, code in ((["--help"], 0), (["-h"], 0), (["fetch"], 2), (["--force"], 2)):
        run = module("libtorch", *words, RINGCHECK_CACHE=str(tmp_path / "cache"))
        assert run.returncode == code, run.stderr
        assert ("545 MB" in run.stdout) if code == 0 else (repr(words[0]) in run.stderr and len(run.stderr.splitlines()) == 1)
    assert not list(tmp_path.iterdir())


def libtorch(cache, **changed):
    run = module("libtorch", RINGCHECK_CACHE=str(cache), **changed)
    return run, (run.stderr.splitlines() or [""])[-1]


def test_libtorch_that_cannot_be_fetched(tmp_path):
    run, said = libtorch(tmp_path / "cache", PIP_NO_INDEX="1")
    assert run.returncode == 2 and "Traceback" not in run.stderr, run.stderr
    assert said.startswith(f"ringcheck.libtorch: pip could not install torch=={TORCH}") and "exit code 1" in said, run.stderr
    assert not list((tmp_path / "cache").iterdir())
    (tmp_path / "file").touch()
    run, said = libtorch(tmp_path / "file" / "cache")
    assert run.returncode == 2 and said == run.stderr.strip() and f"cannot write {tmp_path}/file/cache: " in said, run.stderr


def test_libtorch_beside_what_is_no_libtorch(tmp_path):
    (tmp_path / f"libtorch-{TORCH}" / "torc").mkdir(parents=True)
    run, said = libtorch(tmp_path, PIP_NO_INDEX="1")
    assert run.returncode == 2 and said == run.stderr.strip(), run.stderr
    assert f"{tmp_path}/libtorch-{TORCH} is there without a folder torch in it; remove it" in said


def test_libtorch_fetched_twice_at_once(tmp_path):
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "__init__.py").touch()
    (tmp_path / "pip" / "__main__.py").write_text(PIP, encoding="utf-8")
    run, _ = libtorch(tmp_path / "cache", PYTHONPATH=os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]]))
    assert run.returncode == 0, run.stderr
    place = tmp_path / "cache" / f"libtorch-{TORCH}"
    assert run.stdout.splitlines()[-1] == str(place / "torch") and [one.name for one in place.parent.iterdir()] == [place.name]
