#!/usr/bin/env python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ci/subjects.py            writes the tables of docs/subjects.md, from reports/results/subjects
ci/subjects.py --check       says whether they are equal to those results
ci/subjects.py --keep PACKAGE RESULT.json...
                             keeps what `ringcheck verify --subject 'python[ringcheck.adapters.X:Y]' --json` wrote,
                             a file a function and device, with the version of PACKAGE that the Python running this has; a
                             case of several results counts once, as the last one has it"""
import collections
import importlib.metadata
import json
import math
import pathlib
import re
import subprocess
import sys

from pages.section import ROOT, write_section

RESULTS = ROOT / "reports/results/subjects"
ADAPTER = re.compile(r"python\[ringcheck\.adapters\.(\w+):(\w+)\]")
TENSORS = ("o", "dq", "dk", "dv")
SIZES = re.compile(r"/(?:P|b|hq|s|d)(\d+)(?=/)")


def margin(case):
    ratios = [tensor["hard_ratio"] for oracle in case["oracles"] for tensor in oracle["tensors"]]
    return max((ratio for ratio in ratios if isinstance(ratio, (int, float))), default=None)


def bytes_sent(case):
    return sum(rank.get("call", {}).get("bytes_sent", 0) for rank in case.get("ranks", []))


def peak(case):
    return max((rank["peak_bytes"] for rank in case.get("ranks", [])), default=0)


def relative(cases, name):
    """The largest error of a tensor in float32 over its undivided truth, by their norms; not of what is zero in truth."""
    errors = [tensor["relative"] for case in cases if case["parts"]["dtype"] == "float32"
              for oracle in case["oracles"] if oracle["name"] == "parity"
              for tensor in oracle["tensors"] if tensor["tensor"] == name and tensor["verdict"] == "pass"]
    return max((error for error in errors if isinstance(error, (int, float)) and math.isfinite(error)), default=None)


def open_case(case):
    """What the page needs of one that did not pass."""
    return {"name": case["name"], "verdict": case["verdict"], "reason": case["reason"],
            "findings": case["findings"] + [finding for oracle in case["oracles"] if oracle["verdict"] == "fail"
                                            for finding in oracle["findings"]]}


def size(case):
    return math.prod(int(number) for number in SIZES.findall(case["name"]))


def summary(cases):
    passed = [case for case in cases if case["verdict"] == "pass"]
    return {"passed": len(passed), "not_supported": sum(case["verdict"] == "not_supported" for case in cases),
            "margin": max(filter(None, map(margin, passed)), default=None), "bytes_sent": sum(map(bytes_sent, cases)),
            "peak_bytes": max(map(peak, passed), default=None),
            "relative": {name: relative(passed, name) for name in TENSORS},
            "open": sorted((open_case(case) for case in cases if case["verdict"] not in ("pass", "not_supported")), key=size)}


def keep(package, *files):
    git = ["git", "-C", str(ROOT)]
    if subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "python"], check=False).returncode:
        sys.exit("ci/subjects.py: python/ differs from its commit; commit it, and run again")
    commit = subprocess.run([*git, "log", "-1", "--format=%H", "--", "python"], check=True, capture_output=True, text=True).stdout.strip()
    cases, environments = collections.defaultdict(dict), {}
    for result in (json.loads(pathlib.Path(file).read_text()) for file in files):
        for case in result["cases"]:
            adapter = ADAPTER.search(case["name"])
            if adapter is None:
                sys.exit(f"ci/subjects.py: {case['name']} is no case of an adapter")
            which = (*adapter.groups(), case["parts"]["device"])
            cases[which][case["name"]] = case
            environments.setdefault(which, {})[result["environment"]["command"]] = result["environment"]
    for (adapter, function, device), which in cases.items():
        kept = {"adapter": adapter, "function": function, "package": package,
                "version": importlib.metadata.version(package), "python_commit": commit,
                "environments": list(environments[adapter, function, device].values()), **summary(which.values())}
        (RESULTS / device).mkdir(parents=True, exist_ok=True)
        (RESULTS / device / f"{adapter}.{function}.json").write_text(json.dumps(kept, indent=1) + "\n")


def errors(kept):
    found = [kept.get("relative", {}).get(name) for name in TENSORS]
    return ", ".join("-" if one is None else f"{one:.1e}" for one in found) if any(found) else "-"


def row(kept):
    failed = sum(case["verdict"] == "fail" for case in kept["open"])
    commands = " ".join(one["command"] for one in kept["environments"])
    asked = next((profile for profile in ("smoke", "conformance") if f"profile {profile}" in commands), "by hand")
    device = kept["environments"][0]["device"]
    if device != "cpu":
        asked += f", {device.split(',')[0]}"
    worst = f"{kept['margin']:.3f}" if kept["margin"] else "-"
    return (f"| `{kept['adapter']}:{kept['function']}` | {kept['package']} {kept['version'].split('+')[0]} | {asked} "
            f"| {kept['passed']} | {failed} | {kept['not_supported']} | {len(kept['open']) - failed} "
            f"| {worst} | {errors(kept)} | {kept['bytes_sent']} | {kept.get('peak_bytes') or '-'} |")


def smallest(kept):
    """The smallest case of each verdict that is no pass."""
    found = {}
    for case in kept["open"]:
        found.setdefault(case["verdict"], case)
    return found.values()


def failures(kept):
    for case in smallest(kept):
        said = "\n".join([f"{case['verdict']}  {case['reason']}".rstrip(), *case["findings"]])
        yield f"\n```\nringcheck verify --case '{case['name']}'\n{said}\n```\n"


def written():
    kept = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*/*.json"), key=lambda path: path.name)]
    commits = {f"program {run['commit']}, package at {one['python_commit']}" for one in kept for run in one["environments"]}
    return "".join([
        "| subject | implementation | cases | passed | failed | not supported | neither | worst margin | error of O, dQ, dK, dV | bytes sent | peak bytes |\n",
        "|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n", *(row(one) + "\n" for one in kept),
        "\nJudged by: ", "; ".join(sorted(commits)), ".\n", "\n## What did not pass\n\n",
        "The smallest case of each verdict that is no pass.\n",
        *(text for one in kept for text in failures(one))])


def main(words):
    if words[:1] == ["--keep"] and len(words) > 2:
        keep(*words[1:])
    else:
        write_section("ci/subjects.py", "docs/subjects.md", written(), words, __doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
