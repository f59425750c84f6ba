# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Twenty bugs in a ring are found, and named by tensor and rank."""

import re

from bugs import BUGS
from runs import findings, judged

CASES = ("headtail/causal/P3/b1/hq4/hkv2/s96/d16/float32", "headtail/full/P3/b1/hq4/hkv2/s96/d16/bf16")


def is_named(bug, found):
    """A tensor that is wrong first, and a rank."""
    tensors, rank = bug[3].split(), bug[4]
    which = "|".join(tensors)
    return any(re.search(rf"\b({which})\b", one) and re.search(r"\brank \d" if rank is None else rf"\brank {rank}\b", one)
               for one in found)


def test_every_bug_is_killed():
    cases = [f"{case}/seed{seed}" for seed in range(len(BUGS)) for case in CASES]
    by_seed = {seed: [] for seed in range(len(BUGS))}
    for case in judged("bugs.py:ring", cases, "--deadline", "8", "--oracles", "parity"):  # others change the seed
        by_seed[int(case["parts"]["seed"])].append(case)
    ran = [case for of in by_seed.values() for case in of]
    assert {case["verdict"] for case in ran} <= {"pass", "fail", "hang"}, {case["reason"] for case in ran}
    assert all("in python" in case["reason"] for case in ran if case["verdict"] == "hang")
    survivors = [BUGS[seed][0] for seed, of in by_seed.items() if all(case["verdict"] == "pass" for case in of)]
    unnamed = {BUGS[seed][0]: [line for case in of for line in findings(case)][:4] for seed, of in by_seed.items()
               if not is_named(BUGS[seed], [line for case in of for line in findings(case)])}
    print(f"{len(BUGS) - len(survivors)} of {len(BUGS)} killed, {len(BUGS) - len(unnamed)} named; not: {unnamed}")
    assert not survivors
    assert len(unnamed) <= 2, unnamed


def test_the_ring_itself_passes():
    assert {case["verdict"] for case in judged("ring.py:ring", CASES)} == {"pass"}
