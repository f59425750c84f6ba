#!/usr/bin/env python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ci/subjects.py            writes the tables of docs/subjects.md, from reports/results/subjects
ci/subjects.py --check       says whether they are equal to those results
ci/subjects.py --keep RESULT.json [PACKAGE]
                             keeps what `ringcheck verify --subject 'python[ringcheck.adapters.X:Y]' --json` wrote,
                             a file a function, with the version of PACKAGE that the Python running this has"""
import collections
import importlib.metadata
import json
import pathlib
import re
import subprocess
import sys

from pages.section import ROOT, write_section

RESULTS = ROOT / "reports/results/subjects"
ADAPTER = re.compile(r"python\[ringcheck\.adapters\.(\w+):(\w+)\]")


def reduced(case):
    """What the page needs of a case."""
    ratios = [tensor["hard_ratio"] for oracle in case["oracles"] for tensor in oracle["tensors"]]
    return {"name": case["name"], "verdict": case["verdict"], "reason": case["reason"],
            "findings": case["findings"] + [finding for oracle in case["oracles"] if oracle["verdict"] == "fail"
                                            for finding in oracle["findings"]],
            "margin": max((ratio for ratio in ratios if isinstance(ratio, (int, float))), default=None),
            "bytes_sent": sum(rank.get("call", {}).get("bytes_sent", 0) for rank in case.get("ranks", []))}


def keep(file, package="torch"):
    result = json.loads(pathlib.Path(file).read_text())
    git = ["git", "-C", str(ROOT)]
    if subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "python"], check=False).returncode:
        sys.exit("ci/subjects.py: python/ differs from its commit; commit it, and run again")
    commit = subprocess.run([*git, "log", "-1", "--format=%H", "--", "python"], check=True, capture_output=True, text=True).stdout.strip()
    cases = collections.defaultdict(list)
    for case in result["cases"]:
        adapter = ADAPTER.search(case["name"])
        if adapter is None:
            sys.exit(f"ci/subjects.py: {case['name']} is no case of an adapter")
        cases[adapter.groups()].append(reduced(case))
    RESULTS.mkdir(exist_ok=True)
    for (adapter, function), which in cases.items():
        kept = {"adapter": adapter, "function": function, "package": package,
                "version": importlib.metadata.version(package), "python_commit": commit,
                "environment": result["environment"], "cases": which}
        (RESULTS / f"{adapter}.{function}.json").write_text(json.dumps(kept, indent=1) + "\n")


def row(kept):
    verdicts = collections.Counter(case["verdict"] for case in kept["cases"])
    margins = [case["margin"] for case in kept["cases"] if case["verdict"] == "pass" and case["margin"] is not None]
    known = verdicts["pass"] + verdicts["fail"] + verdicts["not_supported"]
    return (f"| `{kept['adapter']}:{kept['function']}` | {kept['package']} {kept['version'].split('+')[0]} "
            f"| {verdicts['pass']} | {verdicts['fail']} | {verdicts['not_supported']} | {len(kept['cases']) - known} "
            f"| {f'{max(margins):.3f}' if margins else '-'} | {sum(case['bytes_sent'] for case in kept['cases'])} |")


def failures(kept):
    for case in kept["cases"]:
        if case["verdict"] not in ("pass", "not_supported"):
            said = "\n".join([f"{case['verdict']}  {case['reason']}".rstrip(), *case["findings"]])
            yield f"\n```\nringcheck verify --case '{case['name']}'\n{said}\n```\n"


def written():
    kept = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
    commits = {f"program {one['environment']['commit']}, package at {one['python_commit']}" for one in kept}
    return "".join([
        "| subject | implementation | passed | failed | not supported | neither | worst margin | bytes sent |\n",
        "|---|---|--:|--:|--:|--:|--:|--:|\n", *(row(one) + "\n" for one in kept),
        "\nJudged by: ", "; ".join(sorted(commits)), ".\n", "\n## What did not pass\n",
        *(text for one in kept for text in failures(one))])


def main(words):
    if words[:1] == ["--keep"] and len(words) in (2, 3):
        keep(*words[1:])
    else:
        write_section("ci/subjects.py", "docs/subjects.md", written(), words, __doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
