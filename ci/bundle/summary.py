#!/usr/bin/env python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""summary.py [--errors] RESULT.json: what a Result says without its passed cases, as JSON; or, with
--errors, the relative Frobenius error of every tensor of every case."""
import collections
import json
import sys

result = json.load(open(sys.argv[-1]))
if (kind := result.get("kind", "verify")) != "verify":  # absent before there were kinds
    sys.exit(f"summary.py: {sys.argv[-1]} is a result of kind {kind}; want verify")
if "--errors" in sys.argv[1:-1]:
    print(json.dumps({
        "summary_of": "RingCheck result",
        "environment": result["environment"],
        "summary": result["summary"],
        "relative_frobenius_error": [
            {"case": case["name"], "verdict": case["verdict"],
             "relative": {tensor["tensor"]: tensor["relative"]
                          for oracle in case["oracles"] if oracle["name"] == "parity"
                          for tensor in oracle["tensors"]}}
            for case in result["cases"]],
    }, indent=1))
    sys.exit()
worst = collections.defaultdict(lambda: {"cases": 0, "hard_ratio": 0.0, "max_z": 0.0, "vacuity": 0.0})
kernels = collections.Counter()
for case in result["cases"]:
    parts = case["parts"]
    kernels[f"{parts.get('kernel', parts.get('subject'))} {parts['dtype']} {case['verdict']}"] += 1
    if case["verdict"] != "pass":
        continue
    for oracle in case["oracles"]:
        for tensor in oracle["tensors"]:
            entry = worst[f"{parts.get('kernel', parts.get('subject'))} {parts['dtype']} {tensor['tensor']}"]
            entry["cases"] += 1
            for figure in ("hard_ratio", "max_z", "vacuity"):
                if isinstance(tensor[figure], (int, float)):
                    entry[figure] = max(entry[figure], tensor[figure])
print(json.dumps({
    "summary_of": "RingCheck result",
    "environment": result["environment"],
    "summary": result["summary"],
    "cases": dict(sorted(kernels.items())),
    "largest_of_passed": dict(sorted(worst.items())),
    "not_passed": [{key: case[key] for key in ("name", "verdict", "reason", "findings", "reproduce")}
                   for case in result["cases"] if case["verdict"] != "pass"],
}, indent=1))
