#!/usr/bin/env python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ci/predictions.py [--program RINGCHECK]           writes the table of docs/plan.md: what `ringcheck plan` predicts for GPUs
                                                  that its constants do not know, beside what was measured there
ci/predictions.py --check [--program RINGCHECK]   says whether it is equal to both

The measurements are those of reports/results/speed on four H200 and four H100; of each length those of the strategies and kernels that `plan`
names for it.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from pages.section import ROOT, write_section
from performance import RESULTS, median, read

WORLD, GPUS = 4, ("h200", "h100")
PROBLEM = ("seq", "heads", "kv_heads", "dim")


def measured():
    """By GPU, problem, strategy, kernel and what carries it: seconds forward, of both passes, and at which commit; the newest of each."""
    found = {}
    for result in sorted(map(read, RESULTS.glob("*.json")), key=lambda one: one["environment"]["started"]):
        environment = result["environment"]
        gpu = next((gpu for gpu in GPUS if environment["device"].startswith(f"{WORLD} x NVIDIA {gpu.upper()}")), None)
        if gpu is None:
            continue
        for one in result["measurements"]:
            parts = one["parts"]
            if parts["subject"] == "ours" and one["name"] in ("seconds", "forward_seconds") and parts.get("transport") != "ipc":
                how = (parts["world_kind"] != "thread", parts.get("launch", "calls") == "graph")
                key = (gpu, *(int(parts[name]) for name in PROBLEM), parts["strategy"], parts["kernel"], how)
                found.setdefault(key, {})[one["name"]] = median(one)
                found[key]["commit"] = environment["commit"][:7]
    return found


def predicted(program, gpu, problem):
    """By strategy: the kernel that plan names, and seconds forward and of both passes."""
    words = (text for name, value in zip(PROBLEM, problem) for text in (f"--{name.replace('_', '-')}", str(value)))
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "plan.json"
        subprocess.run([program, "plan", *words, "--gpu", gpu, "--world", str(WORLD), "--memory", "1000", "--json", file],
                       check=True, stdout=subprocess.DEVNULL)
        plan = json.loads(file.read_text())["plan"]
    of_world = next(one for one in plan["degrees"] if one["ranks"] == WORLD)
    return {one["strategy"]: (one["kernel"], one["forward"]["seconds"], one["both"]["seconds"])
            for one in of_world["strategies"] if "kernel" in one}  # others are refused there


def milliseconds(seconds):
    return f"{1000 * seconds:#.3g}".rstrip(".") if seconds < 1 else f"{1000 * seconds:.0f}"


def length(seq):
    return f"{seq >> 20}M" if seq % 2**20 == 0 else f"{seq >> 10}K"


def written(program):
    rows, plans = [], {}
    for (gpu, *problem, strategy, kernel, how), seconds in sorted(measured().items(), key=lambda one: (GPUS.index(one[0][0]), one[0])):
        asked = (gpu, tuple(problem))
        if asked not in plans:
            plans[asked] = predicted(program, *asked)
        named, *expected = plans[asked].get(strategy, (None,))
        if named != kernel:
            continue
        seq, heads, kv_heads, _ = problem
        cells = []
        for name, guess in zip(("forward_seconds", "seconds"), expected):
            cells += [f"{milliseconds(guess)}, {milliseconds(seconds[name])}", f"{round(100 * (guess / seconds[name] - 1)):+d} %"]
        processes, graph = how
        carried = (", NCCL" if processes else "") + (", as a graph" if graph else "")
        rows.append(f"| {gpu.upper()} | {heads}/{kv_heads}, {length(seq)} | `{strategy}`, `{kernel}`{carried} | {' | '.join(cells)} | {seconds['commit']} |\n")
    return ("| GPUs | query/key heads, tokens | strategy, kernel | forward: predicted, measured | | both passes: predicted, measured | | at |\n"
            "|---|---|---|--:|--:|--:|--:|---|\n" + "".join(rows))


if __name__ == "__main__":
    words, program = sys.argv[1:], str(ROOT / "build/release/bin/ringcheck")
    if "--program" in words:
        at = words.index("--program")
        program = (words[at + 1:at + 2] or sys.exit(__doc__))[0]
        del words[at:at + 2]
    write_section("ci/predictions.py", "docs/plan.md", written(program), words, __doc__)
