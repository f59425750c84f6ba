# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What a function does to itself stays in its case, is named, and leaves no process behind."""

import os

import pytest
from misbehaving import MISDEEDS
from runs import HERE, judged


def processes():
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if b"misbehaving.py:misbehaving" in file.read():
                    found.add(int(pid))
        except OSError:
            pass
    return found


@pytest.fixture(scope="module")
def verdicts():
    cases = judged("misbehaving.py:misbehaving",
                   [f"headtail/causal/P2/b1/hq2/hkv2/s32/d16/float32/seed{seed}" for seed in range(len(MISDEEDS))],
                   "--deadline", "15", "--jobs", "1", "--oracles", "returned,parity")
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


def test_no_process_is_left(verdicts):
    assert not processes(), f"of {HERE}"
