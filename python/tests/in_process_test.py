# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks of torchrun that call their function themselves: the verdicts and numbers of processes beside them, on several
hosts as well; and what ends a process is named."""

import json
import time

import pytest
import ringcheck
import ring
from launched import torchrun
from misbehaving import MISDEEDS
from ringcheck import in_process

SAME = """
import json, sys
import cut, misbehaving, ring, ringcheck

RING = "headtail/causal/P2/b1/hq4/hkv2/s96/d16/"
MISDEEDS = [f"headtail/causal/P2/b1/hq2/hkv2/s32/d16/float32/seed{seed}" for seed in map(int, sys.argv[3].split(","))]

def cases(**how):
    results = [
        ringcheck.verify(ring.ring, cases=[RING + "float32", RING + "bf16"], oracles="returned,parity,counters", **how),
        ringcheck.verify(misbehaving.misbehaving, cases=MISDEEDS, oracles="returned,parity", **how),
        ringcheck.verify(cut.right, mask=["full", "causal"], dtype="float32", seq=64, oracles="returned,parity", **how),
        ringcheck.verify(cut.positions_of_another_cut, seq=64, mask="causal", oracles="returned,parity", **how)]
    return [case for result in results for case in result.json["cases"]]

found = [cases(in_process=how) for how in json.loads(sys.argv[2])]
with open(sys.argv[1] + "." + __import__("os").environ["RANK"], "w") as file:
    json.dump(found, file)
"""
# Under a launcher a process that a function leaves behind is the launcher's to end, as any other's.
ALIKE = [seed for seed, (name, _, verdict, _) in enumerate(MISDEEDS)
         if name not in ("exits at once", "segfaults", "closes 3", "hangs", "leaves a child")]

ENDS = """
import sys
import misbehaving, ringcheck
ringcheck.verify(misbehaving.misbehaving, oracles="returned,parity", deadline=15, json_file=sys.argv[1], in_process=True,
                 cases=[f"headtail/causal/P2/b1/hq2/hkv2/s32/d16/float32/seed{seed}" for seed in (0, sys.argv[2], 0)])
print("comes back")
"""

TWO_HOSTS = """
import sys
import ring, ringcheck
result = ringcheck.verify(ring.ring, cases=["headtail/causal/P2/b1/hq4/hkv2/s96/d16/float32"],
                          oracles="returned,parity,counters", in_process=False if "beside" in sys.argv else None)
said = [case.verdict for case in result.verdicts], [rank["call"] for rank in result.json["cases"][0]["ranks"]]
sys.stdout.write(f"verdicts: {said}\\n")  # at once: the ranks share the pipe
"""


def written(folder, text):
    (folder / "script.py").write_text(text, encoding="utf-8")
    return folder / "script.py"


def without_kind_and_times(case):
    """What is the same of a case however its ranks are processes. Failures are run again by a supervisor alone; where
    threads of a collective free what it made, the most that is held depends on when they do."""
    if "cut.py" in case["parts"]["subject"]:
        case["ranks"] = [rank | {"peak_bytes": 0} for rank in case["ranks"]]
    parts = {key: value for key, value in case["parts"].items() if key != "world_kind"}
    return {key: case[key] for key in ("verdict", "oracles", "ranks", "reproduce", "judged")} | {"parts": parts}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("both")
    run, = torchrun(written(folder, SAME), folder / "found", json.dumps([True, False]), ",".join(map(str, ALIKE)))
    assert run.returncode == 0, run.stdout + run.stderr
    ranks = [json.loads((folder / f"found.{rank}").read_text(encoding="utf-8")) for rank in range(2)]
    assert ranks[0] == ranks[1], "rank 1 has another result than rank 0"
    return ranks[0]


def test_the_same_verdicts_and_numbers(both):
    here, beside = ([without_kind_and_times(case) for case in cases] for cases in both)
    assert len(here) == len(beside) > len(ALIKE)
    for one, other in zip(here, beside):
        if one["verdict"] == "crash":
            one, other = ({"verdict": case["verdict"], "parts": case["parts"]} for case in (one, other))
        assert one == other
    assert {case["parts"]["world_kind"] for case in both[0]} == {"mpi"}, "judged elsewhere"


def test_what_goes_wrong_is_named_and_the_next_case_is_run(both):
    here = {int(case["parts"]["seed"]): case for case in both[0] if "misbehaving" in case["parts"]["subject"]}
    for seed in ALIKE:
        _, _, verdict, reason = MISDEEDS[seed]
        assert here[seed]["verdict"] == verdict and reason in here[seed]["reason"], here[seed]
        assert verdict != "crash" or "rank 1" in here[seed]["reason"], here[seed]


@pytest.mark.parametrize("name, verdict, said", [("segfaults", "crash", "signal 11"), ("exits at once", "crash", "gone"),
                                                ("hangs", "hang", "rank 1 in python")])
def test_what_ends_a_process_is_named(tmp_path, name, verdict, said):
    seed = [misdeed[0] for misdeed in MISDEEDS].index(name)
    run, = torchrun(written(tmp_path, ENDS), tmp_path / "result.json", seed)
    assert run.returncode != 0 and "comes back" not in run.stdout
    good, bad = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["cases"][:2]
    assert good["verdict"] == "pass" and bad["verdict"] == verdict, bad
    assert said in bad["reason"] + str(bad["findings"]) and "rank 1" in bad["reason"] + str(bad["findings"]), bad
    assert name != "hangs" or "in hangs" in run.stderr, run.stderr


def test_several_hosts(tmp_path):
    script = written(tmp_path, TWO_HOSTS)
    one, = torchrun(script)
    two = torchrun(script, hosts=2)
    assert [run.returncode for run in (one, *two)] == [0, 0, 0], one.stderr + two[0].stderr + two[1].stderr
    said = {line for run in (one, *two) for line in run.stdout.splitlines() if line.startswith("verdicts:")}
    assert len(said) == 1 and "['pass']" in said.pop()
    for run in torchrun(script, "beside", hosts=2):
        assert run.returncode != 0 and "2 ranks on 2 hosts" in run.stderr and "start all ranks on one host" in run.stderr, run.stderr


def test_a_wait_ends_with_another_rank(monkeypatch):
    from ringcheck.together import Together
    from torch import distributed

    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setenv("MASTER_PORT", "0")
    monkeypatch.delenv("TORCHELASTIC_USE_AGENT_STORE", raising=False)
    together = Together(0, 1)
    together.meet({"world_ranks": [0]}, 0)
    with together.ends_with_others():
        assert distributed.is_initialized()
    assert distributed.is_initialized(), "nobody failed"
    with together.ends_with_others():
        together._store.add("failed", 1)
        until = time.monotonic() + 20
        while distributed.is_initialized() and time.monotonic() < until:
            time.sleep(0.01)
    assert not distributed.is_initialized()
    together.end()


def test_refused_where_it_cannot_be():
    from torch import distributed

    with pytest.raises(ringcheck.Refused, match="torchrun"):
        ringcheck.verify(ring.ring, in_process=True)
    assert in_process.why_not(ring.ring) is None
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        assert "init_process_group" in in_process.why_not(ring.ring)
    finally:
        distributed.destroy_process_group()


def test_the_doctor_says_which(capsys):
    assert ringcheck.doctor()
    assert "in the processes of the ranks" in capsys.readouterr().out
