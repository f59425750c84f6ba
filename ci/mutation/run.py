# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Mutates who judges, one edit at a time, and asks the self-test, the smoke profile and unit tests."""
import argparse
import collections
import glob
import json
import os
import random
import re
import signal
import subprocess
import tempfile
import threading
import time
from concurrent import futures

from operators import mutants_of

# What is mutated, and the tests of it that are asked; of a folder, and then those of the folders around it.
AREAS = {
    "parity/judge/calibration": ["charts_test", "arithmetic_test", "constants_test", "calibrate_test"],
    "parity/judge/conservation": ["conservation_accumulation_test", "conservation_shares_test", "cli_guard_test",
                                  "cli_guard_mistakes_test", "conservation_laws"],
    "parity/judge/exact": ["keys_counted_test", "exact_oracles_laws", "exact_sabotage_test"],
    "parity/judge/expected": ["counters_alone_test", "peaks_test", "counters_test",
                              "context_parallel_ledger_laws"],
    "parity/judge/recorded": ["recording_test", "dump_test", "cli_judging_test"],
    "parity/judge": ["self_test_test", "self_test_oracles_test", "tally_laws", "vacuity_test", "judged_test",
                     "judging_test", "comparison_test", "pass_contract_test", "padded_batch_test",
                     "rope_angles_test", "reproducible_test", "multiples_test", "relation_test", "sampled_verification_test",
                     "sample_laws"],
    "parity/oracles": ["self_test_oracles_test", "counters_alone_test", "returned_test", "rope_norms_test",
                       "counters_test", "relation_test", "claims_of_relations_test", "circumstances_test", "held_memory_test",
                       "exact_sabotage_test", "sabotage_test", "reference_free_test", "exact_oracles_laws"],
    "reference": ["self_test_test", "reference_test", "reference_rope_test", "bounds_formulas_test",
                  "key_runs_laws", "fast_path_test", "reference_mpfr_test", "reference_laws", "bounds_test",
                  "sample_laws"],
    "cp/ledger": ["bypass_test", "ledger_test", "memory_test", "timeline_laws", "overlap_laws", "sabotage_test", "seconds_laws",
                  "context_parallel_ledger_laws"],
}
SMOKE = ["verify", "--verbose"]
FAILED = re.compile(rb"^(fail|crash|hang) ", re.MULTILINE)  # a line a case
TINY = ["verify", "--case", "ring:p2p/contiguous/causal/P2/s24/d8/float64"]
SELF_TEST_FAILED = 70
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", default=HERE, help="a copy of the sources that is built")
    parser.add_argument("--list", required=True, help="reports/mutants.json, which grows")
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()) // 86400)
    parser.add_argument("--only", default="", help="a part of the path of a file")
    parser.add_argument("--survived", action="store_true", help="again those of the list that survived, no others")
    parser.add_argument("--preset", default="release")
    parser.add_argument("--shard", type=shard, default=(1, 1), metavar="I/N",
                        help="every Nth edit from the Ith, so that N trees share the work")
    parser.add_argument("--add", nargs="+", metavar="LIST",
                        help="takes the lists of other shards into this one, and mutates nothing")
    parser.add_argument("--targets", action="store_true",
                        help="names what is to be built of a tree before, and mutates nothing")
    return parser.parse_args()


def shard(text):
    """(I, N) of "I/N", 1 <= I <= N."""
    index, slash, count = text.partition("/")
    if not (slash and index.isdigit() and count.isdigit() and 1 <= int(index) <= int(count)):
        raise argparse.ArgumentTypeError(f"'{text}' is not I/N with 1 <= I <= N")
    return int(index), int(count)


class Tree:
    """Where the edits are made, and undone."""

    def __init__(self, folder, preset):
        self.folder = os.path.realpath(folder)
        self.build_folder = os.path.join(self.folder, "build", preset)
        self.seconds = {}  # which a program took that noticed nothing

    def path(self, file):
        return os.path.join(self.folder, file)

    def run(self, words, seconds, ended=threading.Event()):
        """The exit code: 124 where it took longer, 1 as soon as it says that a case failed, and 0 where
        it was `ended` from without."""
        # The same cases in every run, and no more than a law needs to show something: 200 edits are two hours.
        environment = dict(os.environ, OMP_NUM_THREADS="1", RC_PARAMS="seed=20261121 max_success=40")
        end = time.time() + seconds
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(words, cwd=self.folder, env=environment, start_new_session=True,
                                       stdout=said, stderr=subprocess.DEVNULL)
            try:
                while process.poll() is None:
                    if ended.wait(0.1):
                        return 0
                    if time.time() > end:
                        return 124
                    if FAILED.search(os.pread(said.fileno(), os.fstat(said.fileno()).st_size, 0)):
                        return 1
                return process.returncode
            finally:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    def builds(self):
        """The library alone: programs load it."""
        return self.run(["ninja", "-C", self.build_folder, "ringcheck_core"], 3600) == 0

    def program(self, name, words=(), seconds=300, ended=threading.Event()):
        begin = time.time()
        code = self.run([os.path.join(self.build_folder, "bin", name), *words], seconds, ended)
        if code == 0 and not ended.is_set():
            self.seconds[name] = time.time() - begin
        return code

    def all_mutants(self, only):
        found = []
        for area in (area for area in AREAS if not any(area.startswith(other + "/") for other in AREAS)):
            for path in sorted(glob.glob(self.path(area) + "/**/*.cpp", recursive=True)):
                file = os.path.relpath(path, self.folder)
                if "/cuda/" not in file and only in file:
                    with open(path, encoding="utf-8") as stream:
                        found += mutants_of(file, stream.read())
        return found


def targets():
    """Of the build, what is rebuilt and asked."""
    return list(dict.fromkeys(["ringcheck_core", "ringcheck_command", *sum(AREAS.values(), [])]))


def tests_of(file, known=(), seconds=()):
    """Of the areas that hold a file: those that have noticed edits of it, then those that take few `seconds`
    (before them who was not timed yet), then those of the smallest area."""
    around = sorted((area for area in AREAS if file.startswith(area + "/")), key=len, reverse=True)
    tests = list(dict.fromkeys(test for area in around for test in AREAS[area]))
    noticed = collections.Counter(row["by"] for row in known if row["file"] == file)
    times = dict(seconds)
    return sorted(tests, key=lambda test: (-noticed[test], times.get(test, 0)))


def killer(tree, tests):
    """Who notices that the tree is wrong, and None where nobody does."""
    code = tree.program("ringcheck", TINY)
    if code == SELF_TEST_FAILED:
        return "self-test"
    if code != 0:
        return "smoke"
    programs = {"smoke": ("ringcheck", SMOKE), **{name: (name, ()) for name in tests}}
    ended = threading.Event()
    with futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        asked = {pool.submit(tree.program, *words, ended=ended): name for name, words in programs.items()}
        for future in futures.as_completed(asked):
            if future.result() != 0:
                ended.set()  # whoever is still asked says nothing more
                return asked[future]
    return None


def judged(tree, mutant, known=()):
    """What became of a mutant. The source is as before afterwards, whatever happens."""
    path = tree.path(mutant.file)
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    lines = text.split("\n")
    lines[mutant.line] = mutant.after
    try:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines))
        if not tree.builds():
            return "does not compile", None
        by = killer(tree, tests_of(mutant.file, known, tree.seconds))
        return ("killed" if by else "survived"), by
    finally:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)


def entry(mutant, result, by, seconds):
    return {"id": mutant.id, "file": mutant.file, "line": mutant.line + 1,
            "operator": mutant.operator, "from": mutant.before.strip(), "to": mutant.after.strip(),
            "result": result, "by": by, "why": None, "seconds": round(seconds, 1)}


def in_turn(mutants, known, seed):
    """New ones first, in an order that the seed draws; those that survived again before the rest."""
    random.Random(seed).shuffle(mutants)
    rank = {"survived": 1}
    return sorted(mutants, key=lambda m: rank.get(known[m.id]["result"], 2) if m.id in known else 0)


def read_list(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as stream:
        return {row["id"]: row for row in json.load(stream)["mutants"]}


def write_list(path, known):
    rows = sorted(known.values(), key=lambda row: (row["file"], row["line"], row["id"]))
    results = [row["result"] for row in rows]
    counts = {name: results.count(name)
              for name in ("killed", "survived", "equivalent", "does not compile")}
    with open(path + ".new", "w", encoding="utf-8") as stream:
        json.dump({"counts": counts, "mutants": rows}, stream, indent=1)
        stream.write("\n")
    os.replace(path + ".new", path)


def of_today(known, mutants):
    """Without the edits whose line is no longer in the sources; the others where it is now."""
    lines = {mutant.id: mutant.line + 1 for mutant in mutants}
    return {name: dict(row, line=lines[name]) for name, row in known.items() if name in lines}


def news(before, rows):
    """Of a list that began as `before`, what was found since: other shards found the rest."""
    found = lambda row: {field: value for field, value in row.items() if field != "line"}  # which may have moved
    return {name: row for name, row in rows.items() if name not in before or found(row) != found(before[name])}


def add(known, rows):
    """What another list says of an edit is newer; what was found out about it here stays."""
    for name, row in rows.items():
        known[name] = dict(row, why=row["why"] or known.get(name, row)["why"])


def main():
    options = arguments()
    if options.targets:
        print(*targets())
        return
    tree = Tree(options.tree, options.preset)
    known = read_list(options.list)
    if options.add:
        before = dict(known)
        for path in options.add:
            add(known, news(before, read_list(path)))
        write_list(options.list, of_today(known, tree.all_mutants("")))
        return
    known = of_today(known, tree.all_mutants(""))
    end = time.time() + 60 * options.minutes
    index, shards = options.shard
    # What passes as it is need not be shown once a shard.
    mutants = tree.all_mutants(options.only)
    if options.survived:
        mutants = [m for m in mutants if known.get(m.id, {}).get("result") == "survived"]
    asked = list(dict.fromkeys(test for file in dict.fromkeys(m.file for m in mutants) for test in tests_of(file)))
    by = None
    if index == 1 and (not tree.builds() or (by := killer(tree, asked))):
        raise SystemExit(f"mutate: the sources do not pass as they are: {by or 'they do not build'}")
    survivors = counted = 0
    for mutant in in_turn(mutants, known, options.seed)[index - 1::shards]:
        if counted >= options.count or time.time() > end:
            break
        if known.get(mutant.id, {}).get("result") == "equivalent":
            continue
        begin = time.time()
        result, by = judged(tree, mutant, known.values())
        row = entry(mutant, result, by, time.time() - begin)
        row["why"] = known.get(mutant.id, row)["why"]  # what was found out about it stays
        known[mutant.id] = row
        write_list(options.list, known)
        counted += result != "does not compile"
        survivors += result == "survived"
        print(f"{result:16} {by or '':20} {row['file']}:{row['line']} {row['operator']}: "
              f"{row['to']}", flush=True)
    tree.builds()  # of the sources as they are
    print(f"mutate: {counted} mutants, {survivors} survived; seed {options.seed}")
    raise SystemExit(1 if survivors else 0)


if __name__ == "__main__":
    main()
