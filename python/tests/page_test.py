# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""The Python of docs/python.md and of docs/own.md runs, and says that it passes."""

import os
import re
import subprocess
import sys

import pytest
from runs import ROOT, blocks
from runs import ringcheck as command


@pytest.mark.parametrize("page", ["docs/own.md", "docs/python.md"])
def test_page(page, tmp_path):
    files = blocks(page)
    assert files, f"{page} shows no Python"
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in files:
        tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "ringcheck.pytest_plugin"] if name.endswith("_test.py") else []
        run = subprocess.run([sys.executable, *tests, name], cwd=tmp_path, env=os.environ, capture_output=True, text=True,
                             timeout=240, check=False)
        assert run.returncode == 0 and ("True" in run.stdout or "passed" in run.stdout), run.stdout + run.stderr


def test_every_argument_of_the_declaration_is_on_the_page():
    import inspect

    import ringcheck

    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    table = page[page.index("| argument |"):page.index("## Which cases")]
    declared = set(inspect.signature(ringcheck.subject).parameters) - {"function"}
    assert set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines()[2:] if line.startswith("|")))) == declared


def test_the_command_of_the_page_is_one():
    assert command("verify", "--subject", "python[ring.py:ring]", "--profile", "smoke", "--list").returncode == 0
