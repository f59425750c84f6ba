# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Batch entries that hold different numbers of tokens, from outside."""

from runs import findings, judged

PADDED = "contiguous/full/P2/lengths:9+16+4/hq2/hkv2/d8/float64"


def test_a_padded_batch_is_judged_entry_by_entry():
    case, = judged("padded.py:right", [PADDED])
    assert case["verdict"] == "pass", findings(case)
    case, = judged("padded.py:by_the_first_entry", [PADDED])
    assert case["verdict"] == "fail" and any("batch 1" in one or "batch 2" in one for one in findings(case)), case


def test_nobody_is_asked_who_did_not_declare_it():
    padded, whole = judged("padded.py:of_one_length", [PADDED, "contiguous/full/P2/b3/s16/hq2/hkv2/d8/float64"])
    assert padded["verdict"] == "not_supported" and whole["verdict"] == "pass", findings(padded)
