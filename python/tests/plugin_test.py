# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""@ringcheck.cases makes tests of cases."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
import ring
from ringcheck import pytest_plugin
from ringcheck.order import CHOOSING
from ringcheck.verify import DEAD, Result
from runs import ringcheck

FILE = """
import ring, ringcheck

@ringcheck.cases(world=2, mask="causal", seq=[32, 64], dtype=["float32", "bf16"])
@ringcheck.subject(balance="headtail", masks=["causal"], gqa=True, shows=["o", "lse", "dq", "dk", "dv"])
def test_mine(q, k, v, *, case, group):
    o, lse = ring.ring(q, k, v, case=case, group=group)
    return o, lse + WRONG * (case.dtype == "bf16")
"""


def run_pytest(folder: pathlib.Path, wrong: int, *words: str, text=FILE, file="mine_test.py"):
    (folder / file).write_text(text.replace("WRONG", str(wrong)), encoding="utf-8")
    variables = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    here = os.path.dirname(os.path.abspath(__file__))
    variables["PYTHONPATH"] = os.pathsep.join([here, variables.get("PYTHONPATH", "")])
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "ringcheck.pytest_plugin",
                          *words, file], cwd=folder, env=variables, capture_output=True, text=True,
                         timeout=240, check=False)
    return run.returncode, run.stdout + run.stderr


def test_passes_and_selects(tmp_path):
    code, said = run_pytest(tmp_path, 0, "-k", "s32")
    assert code == 0 and "2 passed, 2 deselected" in said, said


def test_a_bug_fails_with_the_finding(tmp_path):
    pytest.importorskip("xdist")
    code, said = run_pytest(tmp_path, 1, "-n", "2")
    assert code == 1 and "2 failed, 2 passed" in said, said
    assert "lse" in said and "reproduce: ringcheck verify --case" in said, said


def test_a_worker_that_waited_has_the_same_result(tmp_path, monkeypatch):
    runs = []

    def ends_early(judged, *, cases, json_file, **how):
        runs.append(cases)
        if len(runs) == 1:
            json_file.write_text('{"cases": []}', encoding="utf-8")
        return Result(DEAD, {"cases": []})

    monkeypatch.setattr(pytest_plugin, "verify", ends_early)
    found = [pytest_plugin.Group(ring.ring, None, {}).result(tmp_path) for _ in range(2)]
    assert found == [Result(DEAD, {"cases": []})] * 2 and len(runs) == 1


def test_blanks_in_the_path_and_options_that_say_how(tmp_path):
    (tmp_path / "a folder").mkdir()
    options = 'cases(options=["--heads", "2", "--kv-heads=1", "--sample", "8"], '
    code, said = run_pytest(tmp_path, 0, "--basetemp", str(tmp_path / "kept"), "-k", "s64", file="a folder/mine_test.py",
                            text=FILE.replace("cases(", options))
    assert code == 0 and "2 passed, 2 deselected" in said, said
    file, = (tmp_path / "kept").glob("ringcheck-*.json")
    for case in json.loads(file.read_text(encoding="utf-8"))["cases"]:
        assert "a folder/mine_test.py:test_mine]" in case["name"] and "/hq2/hkv1/" in case["name"]
        assert case["reproduce"].endswith("--sample 8"), case["reproduce"]


def test_the_options_that_choose_cases_are_those_of_the_program():
    chapters = ringcheck("verify", "--help").stdout.split("Running and reporting:")[0].split("Which cases:")[1]
    assert set(re.findall(r"^  (--[\w-]+)", chapters, re.M)) - {"--list", "--coverage"} == CHOOSING
