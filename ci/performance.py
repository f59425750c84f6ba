#!/usr/bin/env python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ci/performance.py            writes the tables of docs/performance.md, from reports/results/speed
ci/performance.py --check       says whether they are equal to those results
ci/performance.py --of FOLDER   prints the tables of the results in a folder (bench/run.sh)

The files there are results of ringcheck_scaling and of the programs in bench/peers.
"""
import collections
import json
import pathlib
import statistics
import sys

from pages.section import ROOT, write_section

RESULTS = ROOT / "reports/results/speed"
PROBLEM = ("heads", "kv_heads", "seq", "dim", "dim_v", "dtype", "mask")
PASSES = ("forward_", "")
PEERS = {"pytorch": "PyTorch", "pytorch context_parallel": "PyTorch `context_parallel`"}
GRADIENTS = ("dq", "dk", "dv")
TRACED = ("", "attention_", "transfers_", "others_", "idle_")  # what a device spent a traced pass on; "": all of it
MOST_TRACED = 6  # rows of a problem


def median(measurement):
    return statistics.median(measurement["samples"])


def spread(measurement):
    """Half of what the middle half of the samples takes up; None of less than four."""
    if len(measurement["samples"]) < 4:
        return None
    low, _, high = statistics.quantiles(measurement["samples"], n=4, method="inclusive")
    return (high - low) / 2


class Row:
    """Who computed a problem on how many devices, at how many TFLOP/s each, forward and with backward."""

    def __init__(self, parts, devices, slowest=False):
        self.problem = tuple(parts[part] for part in PROBLEM)
        self.devices, self.rates, self.spreads, self.errors, self.exposed, self.peak = devices, {}, {}, {}, None, None
        self.bus = self.roof = self.thrown_away = None
        self.traced = collections.defaultdict(dict)  # seconds, by pass
        if parts["subject"] == "ours":
            how = "threads" if parts["world_kind"] == "thread" else f"processes over {parts.get('transport', 'nccl')}"
            self.who, self.how = f"RingCheck `{parts['strategy']}`", f"{parts['kernel']}, {how}" if devices > 1 else parts["kernel"]
            self.how += ", as a graph" if parts.get("launch") == "graph" else ""
        else:
            self.who = PEERS.get(parts["subject"], parts["subject"])
            self.how = ", ".join(filter(None, (parts["kernel"], parts.get("rotation"))))
        if devices == 1 and "alone" in parts:
            self.how += f", by {parts['alone']}"
        if devices == 1 and parts["subject"] == "ours":
            self.who = "RingCheck, one rank, the slowest GPU" if slowest else "RingCheck, one rank"


def rows_of(results):
    """Each as the newest commit has it, and of one commit the newest run."""
    by_commit = collections.defaultdict(list)
    for result in sorted(results, key=lambda result: result["environment"]["started"], reverse=True):
        by_commit[result["environment"]["commit"]].append(result)
    rows = {}
    for its in reversed(by_commit.values()):  # the newest run of the newest commit came first
        for result in reversed(its):
            rows |= rows_in(result["measurements"])
    return list(rows.values())


def rows_in(measurements):
    """By what makes a row; of a case of several devices its run on one device is a row of its own."""
    rows = {}
    for one in measurements:
        parts, name = one["parts"], one["name"]
        devices = int(parts["devices"])
        for prefix in PASSES:
            for suffix, many in (("tflops_per_device", True), ("tflops_on_one", False), ("tflops_on_slowest", False)):
                if name == prefix + suffix and (devices > 1 or suffix != "tflops_on_slowest"):
                    row = Row(parts, devices if many else 1, suffix == "tflops_on_slowest")
                    row = rows.setdefault((row.problem, row.devices, row.who, row.how), row)
                    row.rates.setdefault(prefix, median(one))
                    row.spreads.setdefault(prefix, spread(one))
        for figure, says in (("exposed_communication", "exposed"), ("peak_bytes", "peak"), ("bus_bandwidth", "bus"), ("roofline", "roof"),
                             ("samples_thrown_away", "thrown_away")):
            if name == figure and devices > 1:
                row = Row(parts, devices)
                setattr(rows.setdefault((row.problem, devices, row.who, row.how), row), says, median(one))
        if name == "samples_thrown_away_on_one":
            row = Row(parts, 1)
            row = rows.setdefault((row.problem, 1, row.who, row.how), row)
            row.thrown_away = max(row.thrown_away or 0, median(one))
        for prefix in PASSES:
            for what in TRACED:
                if name == f"{prefix}traced_{what}seconds":
                    row = Row(parts, devices)
                    rows.setdefault((row.problem, devices, row.who, row.how), row).traced[prefix][what] = median(one)
        if name.startswith("error_"):
            row = Row(parts, devices)
            rows.setdefault((row.problem, devices, row.who, row.how), row).errors[name[6:]] = median(one)
    return rows


def table(problem, rows):
    best = {prefix: max((row.rates[prefix] for row in rows if row.devices == 1 and prefix in row.rates), default=None)
            for prefix in PASSES}
    heads, kv_heads, seq, dim, dim_v, dtype, mask = problem
    channels = dim if dim == dim_v else f"{dim}, values of {dim_v}"
    text = [f"\n### {heads} query and {kv_heads} key heads of {channels}, {int(seq) // 1024}K tokens, {dtype}, {mask}\n\n",
            "| GPUs | who | how | forward | eta | forward and backward | eta | exposed | bus, GB/s | of the roof | peak, GiB "
            "| error of O | of gradients |\n"
            "|--:|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"]
    for row in sorted(rows, key=lambda row: (row.devices, -row.rates.get("", 0))):
        cells = []
        for prefix in PASSES:
            rate = row.rates.get(prefix)
            around = row.spreads.get(prefix)
            cells += ["-" if not rate else f"{rate:.0f}" if around is None else f"{rate:.0f} ±{around:.0f}",
                      f"{rate / best[prefix]:.2f}" if rate and best[prefix] else "-"]
        exposed = "-" if row.exposed is None else f"{100 * row.exposed:.0f} %"
        peak = "-" if row.peak is None else f"{row.peak / 2**30:.2f}"
        errors = [row.errors.get("o"), max((row.errors[name] for name in GRADIENTS if name in row.errors), default=None)]
        bus, roof = "-" if row.bus is None else f"{row.bus / 1e9:.0f}", "-" if row.roof is None else f"{row.roof:.2f}"
        thrown_away = f", {row.thrown_away:.0f} samples thrown away" if row.thrown_away else ""
        cells += [exposed, bus, roof, peak, *("-" if error is None else f"{error:.1e}" for error in errors)]
        text.append(f"| {row.devices} | {row.who} | {row.how}{thrown_away} | {' | '.join(cells)} |\n")
    return "".join(text)


def traces(rows):
    """What the fastest of those that were traced spent their passes on."""
    traced = sorted((row for row in rows if row.traced), key=lambda row: -row.rates.get("", 0))[:MOST_TRACED]
    if not traced:
        return ""
    text = ["\nOf a traced pass, in ms: from the first kernel or copy to the last, and of that attention; transfers, other kernels and nothing, while "
            "there was none. Forward, and both passes.\n\n",
            "| GPUs | who | how" + 2 * " | pass | attention | transfers | others | idle" + " |\n|--:|---|---" + 10 * "|--:" + "|\n"]
    for row in traced:
        cells = [f"{1e3 * row.traced[prefix][what]:.2f}" for prefix in PASSES for what in TRACED]
        text.append(f"| {row.devices} | {row.who} | {row.how} | {' | '.join(cells)} |\n")
    return "".join(text)


def read(path):
    result = json.loads(path.read_text())
    if result.get("kind") != "scaling":
        sys.exit(f"ci/performance.py: '{path}' is no result of ringcheck_scaling or of bench/peers; take it out of the folder")
    return result


def days(runs):
    return "".join(f", {day}" for day in sorted({run["started"][:10] for run in runs}))


def written(folder=RESULTS):
    results = [read(path) for path in sorted(folder.glob("*.json"))]
    by_machine = collections.defaultdict(list)
    for result in results:
        by_machine[result["environment"]["device"].split(",")[0]].append(result)
    text = []
    for machine, its in sorted(by_machine.items()):
        runs = [one["environment"] for one in its]
        ours, pytorch, others = ([run for run in runs if program in run["command"]] for program in ("ringcheck", "peers/pytorch", "peers/rings"))
        who = [f"RingCheck at {', '.join(sorted({run['commit'][:7] for run in ours}))}{days(ours)}",
               f"PyTorch {', '.join(sorted({run['version'] for run in pytorch})) or 'not run'}{days(pytorch)}"]
        who += [f"ring-flash-attn and yunchang{days(others)}"] if others else []
        text.append(f"\n## {machine}\n\n{'; '.join(who)}.\n")
        problems = collections.defaultdict(list)
        for row in rows_of(its):
            problems[row.problem].append(row)
        for problem in sorted(problems, key=lambda key: (int(key[2]), [-int(heads) for heads in key[:2]], key)):
            text += [table(problem, problems[problem]), traces(problems[problem])]
    return "".join(text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--of"] and len(sys.argv) == 3:
        if not list((of := pathlib.Path(sys.argv[2])).glob("*.json")):
            sys.exit(f"ci/performance.py: no result (*.json) in '{of}'")
        print(written(of))
        sys.exit()
    write_section("ci/performance.py", "docs/performance.md", written(), sys.argv[1:], __doc__)
