# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""A rank has one thread, however many its worker was given, where no user says another number: then it is a copy of its
interpreter, and loads nothing again."""

import subprocess

import pytest
from runs import HERE
from ringcheck import program

SHARE = {"OMP_NUM_THREADS": "4", "RINGCHECK_SHARE_OF_CORES": "4"}


@pytest.mark.parametrize("said, threads", [(SHARE, "1"), ({"OMP_NUM_THREADS": "3"}, "3")])
def test_threads(tmp_path, said, threads):
    (tmp_path / "counted.py").write_text(f"""
import os, pathlib, ringcheck, torch
here = pathlib.Path(__file__).parent
(here / f"loaded.{{os.getpid()}}").touch()

@ringcheck.subject(masks=["full"], worlds=[1])
def counted(q, k, v, *, case, group):
    assert os.environ["OMP_NUM_THREADS"] == "{threads}", os.environ["OMP_NUM_THREADS"]
    (here / "by").write_text(str(os.getpid()))
    return torch.softmax(q @ k.mT * case.scale, -1) @ v
""", encoding="utf-8")
    variables = {name: value for name, value in program.environment().items() if name not in SHARE} | said
    run = subprocess.run([*program.command(), "verify", "--subject", f"python[{tmp_path}/counted.py:counted]", "--world", "1",
                          "--seq", "32", "--dtype", "float32", "--jobs", "1", "--oracles", "parity"],
                         env=variables, capture_output=True, text=True, cwd=HERE)
    assert run.returncode == 0, run.stdout + run.stderr
    by = (tmp_path / "by").read_text(encoding="utf-8")
    assert threads != "1" or not (tmp_path / f"loaded.{by}").exists(), "it is no copy"
