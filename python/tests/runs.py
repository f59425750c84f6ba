# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of the program, for the tests."""

import json
import pathlib
import re
import subprocess

from ringcheck import program

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def blocks(page):
    """The files that a page shows, by name."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return dict((block.splitlines()[0][2:], block) for block in re.findall(r"```python\n(# \w+\.py\n.*?)```", text, re.S))


def ringcheck(*words, seconds=240, **changed):
    """The command, as a user has it; the environment with some variables changed."""
    return subprocess.run([*program.command(), *words], env=program.environment() | changed, cwd=HERE,
                          capture_output=True, text=True, timeout=seconds, check=False)


def judged(subject, cases, *words, **changed):
    """The cases of the result file, in the order of `cases`."""
    asked = [word for case in cases for word in ("--case", f"subject:python[{subject}]/{case}")]
    run = ringcheck("verify", *asked, *words, "--json", "-", **changed)
    try:
        return json.loads(run.stdout)["cases"]
    except json.JSONDecodeError:
        raise AssertionError(f"exit code {run.returncode}: {run.stderr[-2000:]}{run.stdout[-500:]}") from None


def findings(case):
    return [finding for oracle in case["oracles"] for finding in oracle["findings"]] + case["findings"]
