#!/usr/bin/env python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ci/screens_test.py PROGRAM   what ringcheck shows people: at most 80 columns, in plain words, in colour on
a terminal and only there."""
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from pages.terminal import COLUMNS, STYLE, left_on, on_terminal  # noqa: E402

PROGRAM = os.environ.get("RINGCHECK_PROGRAM", "ringcheck")
SUBCOMMANDS = ("calibrate", "compare", "detection", "doctor", "export", "faults", "guard", "judge",
               "plan", "refusals", "replay", "report", "result", "verify")
CASE = "ring:p2p/headtail/causal/P2/hq2/hkv1/s40/d16/float32"
PASSES = ["verify", "--case", CASE]
JUDGES = ["--oracles", "counters,parity"]
WRONG = ["verify", "--subject", "planted[wrong_owner]", "--seq", "64", *JUDGES]
COSTS = ["verify", "--subject", "planted[all_blocks_kept]", "--seq", "64", *JUDGES]
REPORTS = {
    "pass": PASSES,
    "rows": ["verify", "--seq", "40", "--dim", "16", "--strategy", "ring:allgather[keep],ring:p2p",
             "--balance", "contiguous,striped[4]", *JUDGES],
    "wrong": WRONG,
    "costs": COSTS,
    "crash": ["verify", "--subject", "planted[rank_aborts]", "--seq", "64"],
    "refused": ["verify", "--kernel", "flash,plain", "--dim", "16", "--dim-v", "8", "--seq", "64"],
    "sampled": ["verify", "--seq", "64", "--sample", "8"],
    "clean": ["verify", "--clean", "3"],
    "coverage": ["verify", "--profile", "smoke", "--coverage"],
    "faults": ["faults", "--fault", "wrong_owner,kv_used_before_it_arrived", "--dtype", "bf16"],
    "groups": ["faults", "--fault", "mask,held", "--dtype", "bf16", "--oracles", "counters"],
    "hunt": ["faults", "--fault", "wrong_owner", "--profile", "smoke"],
    "list": ["faults", "--list"],
    "refusals": ["refusals"],
    "doctor": ["doctor"],
    "plan": ["plan", "--model", "deepseek-v3", "--seq", "1M", "--world", "1024", "--memory", "64"],
}
REFUSED = {
    "rotation": ["verify", "--rotation", "p22p"],
    "strategy": ["verify", "--strategy", "ring:teleport"],
    "option": ["verify", "--rotatoin", "p2p"],
    "subcommand": ["verfy"],
    "heads": ["verify", "--heads", "3", "--kv-heads", "2"],
    "kernel": ["verify", "--subject", "undivided", "--kernel", "flash"],
    "mask": ["verify", "--profile", "smoke", "--mask", "foo"],
    "bug": ["verify", "--subject", "planted[wrong_ower]"],
    "fault": ["faults", "--fault", "M99"],
    "file": ["verify", "--case", CASE, "--json", "/nonexistent/file"],
    "report": ["report", "/nonexistent/file"],
    "replay": ["replay", "/nonexistent/folder"],
    "judge": ["judge", "/nonexistent/folder"],
    "export": ["export", "/nonexistent/folder/new", "--case", "s8"],
    "seeds": ["calibrate", "--seeds", "1", "--contract", "x"],
}
HELPS = {"program": ["--help"]} | {f"{name} --help": [name, "--help"] for name in SUBCOMMANDS}
ALL = HELPS | REPORTS | REFUSED
# A case and a path cannot be broken; a command is shown to be copied.
LONG = re.compile(r"\S{45,}")
# Words of ours that say nothing to others, names of members, and frames.
UNPLAIN = re.compile(
    r"vacuity|vacuous|traveller|thread worlds?|(?<!-)\bmargin\b|\bother +(margin|cases)|hard[ _]ratio|"
    r"\b(max|rms)_z\b|\b[kq]_rotated\b|\bkv_bytes\b|\w+::\w+|\bfrom [\w.]+\.(so|cpp)\b|0x[0-9a-f]{6}|"
    r"Exception raised", re.I)


@functools.cache
def shown(*words):
    """What stands on a terminal afterwards."""
    return left_on(on_terminal([PROGRAM, *words])[0])


def piped(*words, **environment):
    """What is printed where there is no terminal, both streams."""
    run = subprocess.run([PROGRAM, *words], env=os.environ | environment, text=True, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return run.stdout


def too_wide(text):
    return [line for line in text.splitlines() if len(line) > COLUMNS and not LONG.search(line)]


def painted(text):
    return bool(STYLE.search(text))


class Screens(unittest.TestCase):
    """Each screen by its name, where it is wrong."""

    def test_nothing_is_wider_than_a_terminal(self):
        for name, words in ALL.items():
            with self.subTest(name):
                self.assertTrue(shown(*words).strip())
                self.assertEqual(too_wide(shown(*words)), [])

    def test_words_are_plain(self):
        for name, words in ALL.items():
            with self.subTest(name):
                self.assertEqual([m[0] for m in UNPLAIN.finditer(shown(*words))], [])

    def test_junit_is_plain_too(self):
        for words in (WRONG, COSTS, REPORTS["crash"]):
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "junit.xml")
                piped(*words, "--junit", str(file))
                self.assertIn("reproduce", file.read_text())
                self.assertIsNone(UNPLAIN.search(file.read_text()))

    def test_every_subcommand_is_looked_at(self):
        listed = shown("--help").split("Subcommands:")[1]
        self.assertEqual(tuple(re.findall(r"^  (\w+)", listed, re.M)), SUBCOMMANDS)

    def test_the_verdict_begins_the_report(self):
        for name, word in {"pass": "PASS", "rows": "PASS", "wrong": "FAIL", "crash": "FAIL",
                           "costs": "FAIL (counters only)"}.items():
            with self.subTest(name):
                report = shown(*REPORTS[name]).split("\n\n")[1]
                self.assertTrue(report.startswith(word + "  "), report)
        for name in ("faults", "coverage", "doctor"):
            with self.subTest(name):
                self.assertRegex(shown(*REPORTS[name]), r"^(PASS|FAIL|OK|WARN) ")

    def test_tables_say_what_their_columns_are(self):
        for column in ("open", "error", "sigmas", "blind"):
            self.assertRegex(shown(*PASSES), rf"(?m)^  world .*\b{column}\b")
            self.assertRegex(shown(*PASSES), rf"(?m)^  {column} +\w+.*[:;]")
        for column in ("seen", "placed"):
            self.assertRegex(shown(*REPORTS["faults"]), rf"(?m)^  planted bug .*\b{column}\b")
            self.assertRegex(shown(*REPORTS["faults"]), rf"(?m)^  {column} +\w+")

    def test_planted_bugs_are_described(self):
        flat = " ".join(shown(*REPORTS["faults"]).split())
        self.assertIn("blocks are taken for those of the ring's other direction", flat)
        missed = " ".join(shown(*REPORTS["groups"]).split())
        self.assertRegex(missed, r"NOT SEEN causal_misses_itself in bf16 k < q in place of k <= q")

    def test_color_is_for_terminals(self):
        self.assertTrue(painted(on_terminal([PROGRAM, *PASSES])[0]))
        self.assertTrue(painted(on_terminal([PROGRAM, *REFUSED["rotation"]])[0]))
        self.assertFalse(painted(piped(*PASSES)))
        self.assertFalse(painted(piped(*REFUSED["rotation"])))

    def test_no_color_is_honoured(self):
        self.assertFalse(painted(on_terminal([PROGRAM, *PASSES], {"NO_COLOR": "1"})[0]))
        self.assertTrue(painted(on_terminal([PROGRAM, *PASSES], {"NO_COLOR": ""})[0]))
        self.assertFalse(painted(on_terminal([PROGRAM, *PASSES], {"TERM": "dumb"})[0]))

    def test_color_can_be_asked_for(self):
        never = on_terminal([PROGRAM, *PASSES, "--color", "never"])[0]
        self.assertFalse(painted(never))
        self.assertTrue(painted(piped(*PASSES, "--color", "always")))
        self.assertTrue(painted(piped(*PASSES, "--color", "always", NO_COLOR="1")))
        self.assertIn("--color", piped(*PASSES, "--color", "sometimes"))

    def test_messages_are_a_line_in_a_file(self):
        for name in REFUSED.keys() - {"option", "subcommand", "seeds"}:  # which say where help is, too
            with self.subTest(name):
                self.assertEqual(piped(*REFUSED[name]).count("\n"), 1)

    def test_progress_says_how_long_it_takes(self):
        for words in (["verify", "--seq", "600,601,602,603", "--jobs", "1"],
                      [*REPORTS["groups"], "--jobs", "1"]):
            written = on_terminal([PROGRAM, *words])[0]
            self.assertRegex(written, r"\d+ of \d+ [a-z ]+, \d+ s, about \d+ (s|min) left")
            self.assertNotIn(" left", left_on(written))
            self.assertEqual([bar for bar in written.split("\r\x1b[K")
                              if "] " in bar and len(STYLE.sub("", bar.split("\n")[0])) >= COLUMNS], [])


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        PROGRAM = sys.argv.pop(1)
    unittest.main()
