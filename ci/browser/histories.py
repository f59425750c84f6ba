# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Histories to look at: of committed results, with failures that are made up; and of very many runs."""
import collections
import copy
import datetime
import json
import pathlib
import random
import sqlite3
import subprocess

from pages import earlier

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "reports" / "results"
HOSTILE = 'dq: 5.1 bounds at </script><img src=x onerror="throw 1"> & "quotes" {{scripts}}'


def add(program, history, path, branch):
    subprocess.run([program, "report", "add", history, path, "--branch", branch], check=True, stdout=subprocess.DEVNULL)


def page_of(program, history, page, *options):
    """The page of a history or result, and its address."""
    subprocess.run([program, "report", "html", history, "-o", str(page), *options], check=True)
    return f"file://{page}"


def broken(result):
    """The same run a day later and on a branch, where every fifth case of bf16 fails, and one hangs."""
    result = copy.deepcopy(result)
    started = datetime.datetime.fromisoformat(result["environment"]["started"].replace("Z", "+00:00"))
    day_later = started + datetime.timedelta(days=1)
    result["environment"].update(started=day_later.strftime("%Y-%m-%dT%H:%M:%SZ"), commit="b" * 40)
    bf16 = [case for case in result["cases"] if case["parts"]["dtype"] == "bf16"]
    for case in bf16[::5]:
        case.update(verdict="fail", findings=["fails again: 3 of 3 runs"])
        parity = next(oracle for oracle in case["oracles"] if oracle["name"] == "parity")
        parity.update(verdict="fail", findings=[HOSTILE])
        for tensor in parity["tensors"]:
            if tensor["tensor"] == "dq":
                tensor.update(verdict="fail", hard_ratio=5.1, max_z=31.0)
    bf16[1].update(verdict="hang", reason="rank 1 is silent", oracles=[], ranks=[], findings=["rank 1: receive from rank 0"], log="last <words>")
    verdicts = collections.Counter(case["verdict"] for case in result["cases"])
    result["summary"].update(passed=verdicts["pass"], failed=verdicts["fail"], hang=verdicts["hang"])
    return result


def limits(factor, started):
    """Limits of detection, as a result of today has those of an earlier file."""
    old = json.loads((RESULTS / "cpu_sensitivity.json").read_text())["sensitivity"]["limits"]
    environment = json.loads((RESULTS / "cpu_smoke.json").read_text())["environment"]
    new = [{**limit, "epsilon": limit["epsilon"] and limit["epsilon"] * factor} for limit in old]
    return earlier.limits_of({"trials": 20, "limits": new}, started, environment)


def mixed(program, folder):
    history = str(folder / "mixed.db")
    for name in ("cpu_smoke", "cpu_faults_smoke", "h200_gpu1_faults_wgmma", "h200_gpu1_reference",
                 "h200_gpu4_scaling_nccl", "h200_gpu1_smoke.summary", "h200_gpu1_clean_1.summary", "h200_gpu1_clean_2.summary"):
        add(program, history, str(RESULTS / f"{name}.json"), "main")
    for day, factor in ((1, 1), (2, 1.1), (3, 4)):
        file = folder / f"limits_{day}.json"
        file.write_text(json.dumps(limits(factor, f"2026-11-0{day}T00:00:00Z")))
        add(program, history, str(file), "main")
    file = folder / "broken.json"
    file.write_text(json.dumps(broken(json.loads((RESULTS / "cpu_smoke.json").read_text()))))
    add(program, history, str(file), "fix <it>")
    return history


def many(program, folder, runs, series):
    """Runs of the benchmarks as rows of the tables; each tenth series becomes slower half way."""
    history = str(folder / f"many_{runs}.db")
    add(program, history, str(RESULTS / "h200_gpu1_reference.json"), "main")
    base = sqlite3.connect(history)
    base.execute("PRAGMA synchronous = OFF")
    columns = [row[1] for row in base.execute("PRAGMA table_info(runs)") if row[1] != "run"]
    first = dict(zip(columns, base.execute(f"SELECT {', '.join(columns)} FROM runs").fetchone()))
    base.executemany("INSERT INTO series (name, parts, unit, better) VALUES ('time', ?, 's', 'smaller')",
                     [(json.dumps({"benchmark": f"merge/rows{i}/d64"}),) for i in range(series)])
    numbers = [row[0] for row in base.execute("SELECT series FROM series WHERE parts LIKE '%merge/rows%' ORDER BY series")]
    draw = random.Random(15)
    for run in range(2, runs + 2):
        row = {**first, "id": f"{run:08x}-0000-5000-8000-000000000000", "commit_id": f"{run:040x}",
               "started": f"2026-{1 + run // 2880 % 12:02}-{1 + run // 96 % 28:02}T{run // 4 % 24:02}:{run % 4 * 15:02}:00Z"}
        base.execute(f"INSERT INTO runs (run, {', '.join(columns)}) VALUES ({run}, {', '.join('?' * len(columns))})", list(row.values()))
        values = [1e-3 * draw.gauss(1.1 if i % 10 == 0 and run > runs / 2 else 1, 0.01) for i in range(series)]
        base.executemany("INSERT INTO points VALUES (?, ?, ?, ?, NULL)",
                         [(number, run, value, json.dumps([value] * 10)) for number, value in zip(numbers, values)])
    base.commit()
    base.close()
    return history
