# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What is run by ``python -m``."""

import os
import subprocess
import sys


def module(name, *words, **changed):
    return subprocess.run([sys.executable, "-m", f"ringcheck.{name}", *words], env=os.environ | changed,
                          capture_output=True, text=True, timeout=120, check=False)


def test_doctor_warns_of_nothing():
    run = module("doctor")
    assert run.returncode == 0 and not run.stderr, run.stderr


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
