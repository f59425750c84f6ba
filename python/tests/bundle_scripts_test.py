# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""The scripts of a bundle, given what they cannot use: one line that says so and how to use them, and exit code 2."""

import json
import os
import shutil
import subprocess

import pytest
from runs import ROOT


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """One whose program prints its words, and what scripts need of the machine, which has no GPU."""
    folder = tmp_path_factory.mktemp("bundle")
    for script in [*(ROOT / "ci/bundle").iterdir(), ROOT / "ci/gpu.sh"]:
        if script.is_file():
            shutil.copy(script, folder)
    for name in ("bin/ringcheck", "torch/lib/libtorch_cpu.so", "tools/nvidia-smi"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("#!/bin/sh\n" + ("exit 9\n" if "smi" in name else 'echo "$@"\n'), encoding="utf-8")
        (folder / name).chmod(0o755)
    (folder / "ringcheck").symlink_to("run")
    (folder / "text.json").write_text("no JSON", encoding="utf-8")
    (folder / "list.json").write_text("[1]", encoding="utf-8")
    (folder / "other.json").write_text(json.dumps({"kind": "bench"}), encoding="utf-8")
    (folder / "bytes.json").write_bytes(b"\xff\xfe\x00")
    return folder


def run(bundle, *words, **changed):
    variables = os.environ | {"RINGCHECK_TORCH": str(bundle / "torch"),
                              "PATH": f"{bundle}/tools:{os.environ['PATH']}"} | changed
    return subprocess.run([str(bundle / words[0]), *words[1:]], cwd=bundle, env=variables, capture_output=True, text=True,
                          timeout=60, check=False)


@pytest.mark.parametrize("words, said", [
    (["run"], "usage: run PROGRAM"), (["run", "nosuch"], "no program 'nosuch'"), (["run", ""], "no program ''"),
    (["faults"], "usage: faults OUT"), (["faults", "nosuch", "cpu", "2", "x"], "'nosuch' is no folder"),
    (["faults", ".", "tpu", "2", "x"], "'tpu' is neither"), (["faults", ".", "cpu", "1", "x"], "'1' ranks"),
    (["ranks"], "usage: ranks N"), (["gpu.sh"], "usage: gpu.sh OUT"), (["gpu.sh", "out"], "no GPU was found"),
    (["summary.py"], "no file is named"), (["summary.py", "nofile"], "cannot read nofile"), (["summary.py", "."], "cannot read ."),
    (["summary.py", "text.json"], "is no JSON"), (["summary.py", "bytes.json"], "is no JSON"),
    (["summary.py", "list.json"], "is no result"), (["summary.py", "other.json"], "of kind bench"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_refused(bundle, words, said):
    done = run(bundle, *words)
    assert done.returncode == 2 and not done.stdout, done
    assert done.stderr.startswith(f"{words[0]}: ") and said in done.stderr.splitlines()[0], done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert not (bundle / "out").exists()


def test_a_tool_that_is_not_there(bundle):
    done = run(bundle, "ringcheck", "verify", RINGCHECK_WRAP="nosuch --of it")
    assert done.returncode == 2 and "there is no 'nosuch'; name a tool in PATH" in done.stderr, done.stderr


def test_what_is_there_is_run(bundle):
    for words in (["ringcheck", "a", "b"], ["run", "ringcheck", "a", "b"]):
        for wrap in ("", " env -u HOME"):
            done = run(bundle, *words, RINGCHECK_WRAP=wrap)
            assert (done.returncode, done.stdout) == (0, "a b\n"), done
