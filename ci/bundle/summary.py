#!/usr/bin/env python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""summary.py [--errors] RESULT.json...: what Results of one commit say without their passed cases, as JSON;
or, with --errors, the relative Frobenius error of every tensor of every case."""
import collections
import json
import sys


def refuse(text):
    print(f"summary.py: {text}", file=sys.stderr)
    sys.exit(2)


def read(file):
    """A Result of verify."""
    try:
        with open(file, encoding="utf-8") as opened:
            result = json.load(opened)
    except OSError as error:
        refuse(f"cannot read {file}: {error.strerror}; name the result file of a run")
    except ValueError as error:  # of its bytes as text, too
        refuse(f"{file} is no JSON: {error}; name the result file of a run")
    parts = {"environment": dict, "summary": dict, "cases": list}
    if isinstance(result, dict) and (kind := result.get("kind", "verify")) != "verify":  # absent before there were kinds
        refuse(f"{file} is a result of kind {kind}; want verify")
    if not isinstance(result, dict) or not all(isinstance(result.get(name), kind) for name, kind in parts.items()):
        refuse(f"{file} is no result; want what ringcheck verify --json writes")
    return result


def merged(files):
    """The cases of all files under the environment of the first."""
    whole = None
    for file in files:
        result = read(file)
        if whole is None:
            whole = result
            continue
        commits = whole["environment"]["commit"], result["environment"]["commit"]
        if len(set(commits)) > 1:
            refuse(f"{file} is of commit {commits[1]}, {files[0]} of {commits[0]}; name those of one commit")
        whole["cases"] += result["cases"]
        whole["environment"]["wall_seconds"] += result["environment"]["wall_seconds"]
        for verdict, count in result["summary"].items():
            whole["summary"][verdict] += count
    if len(files) > 1:
        whole["environment"]["command"] = f"{len(files)} runs of ringcheck verify"
    return whole


def errors(result):
    return {
        "relative_frobenius_error": [
            {"case": case["name"], "verdict": case["verdict"],
             "relative": {tensor["tensor"]: tensor["relative"]
                          for oracle in case["oracles"] if oracle["name"] == "parity"
                          for tensor in oracle["tensors"]}}
            for case in result["cases"]],
    }


def summary(result):
    worst = collections.defaultdict(lambda: {"cases": 0, "hard_ratio": 0.0, "max_z": 0.0, "vacuity": 0.0})
    kernels = collections.Counter()
    for case in result["cases"]:
        parts = case["parts"]
        kernel = f"{parts.get('kernel', parts.get('subject'))} {parts['dtype']}"
        kernels[f"{kernel} {case['verdict']}"] += 1
        if case["verdict"] != "pass":
            continue
        for oracle in case["oracles"]:
            for tensor in oracle["tensors"]:
                entry = worst[f"{kernel} {tensor['tensor']}"]
                entry["cases"] += 1
                for figure in ("hard_ratio", "max_z", "vacuity"):
                    if figure == "vacuity" and tensor["verdict"] != "pass":
                        continue  # of what nobody judged all may be blind
                    if isinstance(tensor[figure], (int, float)):
                        entry[figure] = max(entry[figure], tensor[figure])
    return {
        "cases": dict(sorted(kernels.items())),
        "largest_of_passed": dict(sorted(worst.items())),
        "not_passed": [{key: case[key] for key in ("name", "verdict", "reason", "findings", "reproduce")} |
                       {"oracles": {oracle["name"]: oracle["findings"] for oracle in case["oracles"] if oracle["findings"]}}
                       for case in result["cases"] if case["verdict"] != "pass"],
    }


if {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__)
    sys.exit()
files = [name for name in sys.argv[1:] if name != "--errors"] or refuse("no file is named; usage: summary.py [--errors] RESULT.json...")
try:
    whole = merged(files)
    head = {"summary_of": "RingCheck result", "environment": whole["environment"], "summary": whole["summary"]}
    print(json.dumps(head | (errors(whole) if "--errors" in sys.argv else summary(whole)), indent=1))
except (KeyError, TypeError, AttributeError) as error:
    refuse(f"{' '.join(files)}: no whole result, for {type(error).__name__} {error}; name what ringcheck verify --json wrote")
