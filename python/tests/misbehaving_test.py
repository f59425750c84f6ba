# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What a function does to itself stays in its case, is named, and leaves no process behind."""

import os
import pathlib
import subprocess
import uuid

import pytest
from misbehaving import MISDEEDS
from runs import judged

OURS = {"RINGCHECK_TEST_RUN": str(uuid.uuid4())}


def processes():
    """Those that our run has started, and their children: a variable of their environment is nobody else's."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            process = pathlib.Path("/proc", pid)
            if OURS["RINGCHECK_TEST_RUN"].encode() in (process / "environ").read_bytes():
                found[int(pid)] = (process / "cmdline").read_bytes()
        except OSError:
            pass
    return found


@pytest.fixture(scope="module")
def verdicts():
    cases = judged("misbehaving.py:misbehaving",
                   [f"headtail/causal/P2/b1/hq2/hkv2/s32/d16/float32/seed{seed}" for seed in range(len(MISDEEDS))],
                   "--deadline", "15", "--jobs", "1", "--oracles", "returned,parity", **OURS)
    return {int(case["parts"]["seed"]): case for case in cases}


@pytest.mark.parametrize("seed", range(len(MISDEEDS)), ids=[one[0] for one in MISDEEDS])
def test_verdict(verdicts, seed):
    _, _, verdict, reason = MISDEEDS[seed]
    case = verdicts[seed]
    assert case["verdict"] == verdict, case["reason"]
    assert reason in case["reason"]
    if verdict == "crash":
        assert "rank 1" in case["reason"]


def test_the_stack_of_a_hang(verdicts):
    hang = next(case for case in verdicts.values() if case["verdict"] == "hang")
    assert "misbehaving.py" in hang["log"] and "in hangs" in hang["log"], hang["log"]


def named(verdicts, name):
    return verdicts[[one[0] for one in MISDEEDS].index(name)]


def test_what_is_printed(verdicts):
    assert "it will raise" in named(verdicts, "raises")["log"]
    text = named(verdicts, "exits with a text")
    assert "no such thing" in text["log"] and "exit code 1" in text["reason"], text
    assert named(verdicts, "raises")["log"].count("no such thing") == 0
    assert not named(verdicts, "prints")["log"]


def test_no_process_is_left(verdicts):
    assert not processes()


def test_a_process_of_ours_would_be_seen():
    with subprocess.Popen(["sleep", "60"], env=OURS) as left:
        try:
            assert left.pid in processes()
        finally:
            left.kill()
