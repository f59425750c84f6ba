#!/usr/bin/python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ci/gate_test.py   ci/gate.sh, with the program RINGCHECK_PROGRAM, as docs/ci.md tells a newcomer to use it: it passes
on equal sides, and fails on a planted bug, on a planted slowdown, and where nothing is known.

The newcomer's repository has a command that is judged and one that is timed. The latter writes samples that were measured on GPUs, drawn again: a
test that takes real times would wait for a quiet machine. The planted slowdown multiplies what was drawn. Scripts and command are those of the page.
Where the question is what the gate makes of results, verify.sh and bench.sh are not run anew: `recorded` and `drawn` write what they wrote, with the
time of another run."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
GATE = ROOT / "ci/gate.sh"
PROGRAM = pathlib.Path(os.environ.get("RINGCHECK_PROGRAM", "ringcheck"))
MEASURED = ROOT / "reports/results/h200_gpu2_scaling_nccl.json"
CASES = "--seq 40 --dim 16 --heads 2 --oracles counters,parity"
BLOCKS = [text for language, text in
          re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "docs/ci.md").read_text(), flags=re.M | re.S) if not language]
# What the page has a newcomer type and write; a subject's name and a smaller profile are filled in.
TYPED, VERIFY, BENCH = BLOCKS[:3]
VERIFY = VERIFY.replace("--subject NAME --profile smoke", f"$(cat subject) {CASES}")
# The program that is timed: draws one of the measured samples, another one each time.
MINE = f'''#!/usr/bin/python3
import json, os, random, sys
names = dict(forward="seconds", backward="seconds_on_one")
measured = json.load(open("{MEASURED}"))["measurements"]
def seconds(what):
    series = [one for one in measured if one["name"] == names[what]]
    random.seed(os.path.basename(os.environ["RESULT"]) + what)
    return float(open("slowness").read()) * random.choice(series[0]["samples"])
if __name__ == "__main__":
    print(seconds(sys.argv[1]))
'''
# In place of verify.sh: what it left for this subject, in the folder KEPT, of the same case, and its exit code.
RECORDED = """#!/usr/bin/python3
import json, os, pathlib, sys
kept = pathlib.Path("KEPT", "wrong" if "planted" in open("subject").read() else "right")
result = json.loads(kept.with_suffix(".json").read_text())
result["environment"]["host"] += "-" + os.environ["SIDE"]
for case, known in zip(result["cases"], json.loads(kept.with_name("right.json").read_text())["cases"]):
    case.update(name=known["name"], parts=known["parts"])
pathlib.Path(os.environ["RESULT"]).write_text(json.dumps(result))
sys.exit(1 if kept.name == "wrong" and "--waivers" not in open("subject").read() else 0)
"""
# In place of bench.sh: what it left, with other samples.
DRAWN = """#!/usr/bin/python3
import importlib.machinery, json, os, pathlib
mine = importlib.machinery.SourceFileLoader("mine", "./mine").load_module()
result = json.load(open("KEPT/times.json"))
result["environment"]["host"] += "-" + os.path.basename(os.environ["RESULT"])
for one in result["measurements"]:
    one["samples"] = [mine.seconds(one["parts"]["benchmark"])]
pathlib.Path(os.environ["RESULT"]).write_text(json.dumps(result))
"""


def run(*words, **options):
    return subprocess.run([str(word) for word in words], text=True, check=False, capture_output=True, **options)


class Repository:
    """Of a newcomer: the commit `main`, and what is changed after it; RingCheck lies beside it."""

    def __init__(self, folder):
        self.path, self.cache, self.out = folder / "theirs", folder / "cache", folder / "theirs/build/gate"
        self.path.mkdir()
        (folder / "ringcheck").symlink_to(ROOT)
        self.write("subject", "")
        self.write("slowness", "1")
        self.write(".gitignore", "build")
        for name, text in (("verify.sh", VERIFY), ("bench.sh", BENCH), ("mine", MINE),
                           ("recorded", RECORDED), ("drawn", DRAWN)):
            text = text.replace("KEPT", str(KEPT.name))
            self.write(name, text if text.startswith("#!") else "#!/usr/bin/env bash\n" + text)
            (self.path / name).chmod(0o755)
        self.git("init", "--quiet", "--initial-branch", "main")
        self.commit()

    def git(self, *words):
        done = run("git", "-c", "user.name=n", "-c", "user.email=n@example.org", *words, cwd=self.path)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def commit(self):
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "more")

    def write(self, name, text):
        (self.path / name).write_text(text)

    def gate(self, words):
        """As it is typed on the page, of fewer rounds, or with other words."""
        return run("bash", "-c", TYPED.strip() + " --rounds 5" if words is None else '../ringcheck/ci/gate.sh "$@"', "bash", *(words or []),
                   cwd=self.path, env=os.environ | {"RINGCHECK_PROGRAMS": str(PROGRAM.parent),
                                                    "RINGCHECK_CACHE": str(self.cache)})

    def summary(self):
        return (self.out / "summary.md").read_text()


KEPT = tempfile.TemporaryDirectory()


def setUpModule():
    """A gate of a bug and of half the speed, by verify.sh and bench.sh: for two tests, and for what is recorded."""
    unittest.addModuleCleanup(KEPT.cleanup)
    folder = pathlib.Path(KEPT.name)
    FAILED.append(Repository(folder))
    theirs = FAILED[0]
    theirs.write("slowness", "2")
    theirs.write("subject", "--subject planted[wrong_owner]")
    run("./bench.sh", cwd=theirs.path, env=os.environ | {"RINGCHECK": str(PROGRAM), "RESULT": str(folder / "times.json")})
    FAILED.append(theirs.gate(["main", "--repository", ".", "--verify", "./verify.sh",
                               "--bench", f'echo "$SIDE" >>{folder}/turns; ./drawn', "--rounds", "5"]))
    for side, kept in (("base", "right"), ("new", "wrong")):
        (theirs.out / f"{side}.verify.json").rename(folder / f"{kept}.json")


FAILED = []  # that repository, and how its gate ended


class Gate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.theirs = Repository(pathlib.Path(self.folder.name))

    def ends(self, code, *words):
        done = self.theirs.gate(["main", "--repository", ".", *words])
        self.assertEqual(done.returncode, code, done.stdout + done.stderr + self.theirs.summary())
        return done

    def test_equal_sides_pass(self):
        done = self.theirs.gate(None)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.theirs.summary().startswith("# Gate: passes\n"))
        self.assertIn("## Correctness: nothing is worse", self.theirs.summary())
        self.assertIn("## PASS: 1 case: 1 passed", self.theirs.summary())
        self.assertEqual(xml.etree.ElementTree.parse(self.theirs.out / "junit.xml").getroot().get("tests"), "1")
        self.assertIn('ringcheck_cases{verdict="passed"} 1', (self.theirs.out / "metrics.txt").read_text())
        page = run("cmark-gfm", "-e", "table", self.theirs.out / "summary.md").stdout
        self.assertIn("<h1>Gate: passes</h1>", page)

    def test_a_planted_bug_fails(self):
        theirs, done = FAILED
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertTrue(theirs.summary().startswith("# Gate: fails\n"))
        self.assertIn("```sh\nringcheck verify --case 'subject:planted[wrong_owner]/", theirs.summary())
        root = xml.etree.ElementTree.parse(theirs.out / "junit.xml").getroot()
        self.assertEqual(root.get("failures"), "1")

    def test_the_worst_decides(self):
        theirs, done = FAILED
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("2 slower: exit code 3", theirs.summary())

    def test_a_slowdown_of_a_tenth_fails(self):
        self.theirs.write("slowness", "1.1")
        self.ends(3, "--bench", "./drawn")
        self.assertTrue(self.theirs.summary().startswith("# Gate: fails: slower\n"))
        self.assertRegex(self.theirs.summary(), r"\n## Speed: \d+ slower\n")
        for side in ("base", "new"):  # as many rounds as the page says
            measured = json.loads((self.theirs.out / f"{side}.bench.json").read_text())["measurements"]
            self.assertEqual({len(one["samples"]) for one in measured}, {12})
        self.ends(0, "--bench", "./drawn", "--margin", "0.5")

    def test_a_dead_rank_is_worse_than_a_wrong_one_and_runs_are_kept_where_asked(self):
        history = pathlib.Path(self.folder.name, "history.db")
        run(PROGRAM, "report", "add", history, ROOT / "reports/results/cpu_smoke.json")
        self.theirs.write("subject", "--subject planted[rank_aborts]")
        self.ends(5, "--verify", 'if [ "$SIDE" = new ]; then ./verify.sh; else ./recorded; fi', "--history", history)
        kept = run(PROGRAM, "report", "list", history).stdout.splitlines()
        self.assertEqual(len(kept), 4, kept)

    def test_sides_take_turns(self):
        self.assertEqual(pathlib.Path(KEPT.name, "turns").read_text(), "base\nnew\n" + 2 * "new\nbase\nbase\nnew\n")

    def test_a_known_failure_can_be_waived(self):
        waivers = pathlib.Path(self.folder.name, "waivers.json")
        waivers.write_text(json.dumps({"waivers": [{"case": "*", "finding": "*", "reason": "known", "until": "2999-01-01"}]}))
        self.theirs.write("subject", f"--subject planted[wrong_owner] --waivers {waivers}")
        self.ends(0, "--verify", "./recorded", "--waivers", waivers)
        self.assertIn("waived: known", self.theirs.summary())
        root = xml.etree.ElementTree.parse(self.theirs.out / "junit.xml").getroot()
        self.assertEqual((root.get("failures"), root.get("errors")), ("0", "0"))
        self.assertIn(": known", root.find("testsuite/testcase/skipped").get("message"))
        self.theirs.write("subject", "--subject planted[wrong_owner]")
        self.theirs.commit()
        self.ends(1, "--verify", "./recorded")  # what fails as before fails all the same

    def test_what_is_asked_counts_by_its_exit_code(self):
        for code, ends in ((0, 0), (1, 1), (77, 77), (9, 70)):
            self.ends(ends, "--check", f"exit {code}")
        for code, ends in ((1, 1), (9, 70)):
            self.ends(ends, "--bench", f'./drawn; test "$SIDE" = base || exit {code}', "--rounds", "5")
            self.assertIn(f"- bench of new: exit code {code}\n", self.theirs.summary())

    def test_a_side_without_a_result_is_no_verdict(self):
        for command in ("false", 'test "$SIDE" = new && touch "$RESULT"', "kill -9 $$"):
            self.ends(70, "--verify", command)
            self.assertIn("left no result", self.theirs.summary())
        done = self.ends(70, "--verify", "./recorded", "--build", "echo no compiler; false")
        self.assertIn("no compiler", done.stderr)

    def test_each_side_is_built_where_it_is(self):
        self.theirs.write("slowness", "broken")
        self.ends(0, "--build", "cat slowness >built", "--check", "exit 0")
        self.assertEqual((self.theirs.path / "built").read_text(), "broken")
        self.assertEqual([path.read_text() for path in self.theirs.cache.glob("gate/*/built")], ["1"])

    def test_what_a_gate_leaves_does_not_reach_the_next(self):
        self.ends(0, "--check", "exit 0", "--build", "touch left")
        self.ends(0, "--check", "exit 0", "--build", 'test "$SIDE" = new || test ! -e left')

    def test_times_of_few_digits_have_a_run_a_round(self):
        for _ in range(2):  # the second gate's pages know nothing of the first
            self.ends(0, "--bench", '"$RINGCHECK" report measured -o "$RESULT" a=0.105', "--rounds", "8")
        self.assertEqual(run(PROGRAM, "report", "list", self.theirs.out / "history.db").stdout.count(" bench "), 2)

    def test_commands_keep_their_environment(self):
        self.ends(0, "--check", f'test "$(command -v python3)" = {run("bash", "-c", "command -v python3").stdout}')

    def test_files_of_others_are_not_removed(self):
        self.theirs.write("new.txt", "mine")
        done = self.theirs.gate(["main", "--repository", ".", "--verify", "true", "--out", "."])
        self.assertEqual(done.returncode, 2)
        self.assertIn("holds files that no gate wrote", done.stderr)
        self.assertTrue((self.theirs.path / "new.txt").exists())

    def test_bad_input_leaves_what_an_earlier_gate_wrote(self):
        self.ends(0, "--check", "exit 0")
        given, before = ["--repository", ".", "--check", "true"], self.theirs.summary()
        waivers = pathlib.Path(self.folder.name, "waivers.json")
        waivers.write_text("{}")
        for words, says in ((["nowhere", *given], "'nowhere' is no commit"), (["main", *given, "--waivers", "."], "cannot be read")):
            done = self.theirs.gate(words)
            self.assertEqual((done.returncode, self.theirs.summary()), (2, before), done.stderr)
            self.assertIn(says, done.stderr)
        for words, says in ((("--waivers", waivers), "no file of waivers"), (("--history", waivers), "no history")):
            self.assertIn(says, self.ends(2, "--check", "true", *words).stderr)

    def test_bad_input_is_refused_in_a_line(self):
        given = ["--repository", ".", "--verify", "true"]
        for words, says in ((["nowhere", *given], "'nowhere' is no commit"), (given, "want BASE_REF"),
                            (["main", *given, "--rounds", "0"], "--rounds 0"),
                            (["main", *given, "--rounds", "x"], "--rounds x"),
                            (["main", *given, "--margin", "2"], "--margin 2"),
                            (["main", *given, "--waivers", "/nowhere"], "'/nowhere' cannot be read"),
                            (["main", *given, "--history", "/nowhere/h.db"], "'/nowhere/h.db' has no folder"),
                            (["main", *given, "--base", "/nowhere"], "--base '/nowhere' is no folder"),
                            (["main", *given, "--base", "/"], "want either"),
                            (["main", *given, "--cases"], "--cases wants a value"),
                            (["main", *given, "--speed"], "unknown option '--speed'"),
                            (["main", *given, "other"], "'other': want one BASE_REF"),
                            (["main", "--repository", "."], "say what runs there")):
            done = self.theirs.gate(words)
            self.assertEqual(done.returncode, 2, (words, done.stderr))
            self.assertIn(says, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


class OurOwn(unittest.TestCase):
    """Two folders of ours that are built, with the commands of ours."""

    def test_programs_that_are_given_are_compared(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            side = folder / "build/release"
            side.mkdir(parents=True)
            (side / "bin").symlink_to(PROGRAM.parent)
            done = run(GATE, "--base", folder, "--new", folder, "--cases", CASES, "--benchmarks", "^merge/rows64/d64",
                       "--rounds", "1", "--out", folder / "out",
                       env=os.environ | {"RINGCHECK_PROGRAMS": str(PROGRAM.parent)})
            # One round says nothing of speed; what is right is known.
            self.assertEqual(done.returncode, 6, done.stderr)
            summary = (folder / "out/summary.md").read_text()
            self.assertIn("- correctness: nothing is worse: exit code 0\n", summary)
            self.assertRegex(summary, r"- speed: \d+ inconclusive: exit code 6\n")
            self.assertIn("1 against 1 samples; want", summary)
            self.assertIn("## PASS: 1 case: 1 passed", summary)
            self.assertTrue((folder / "out/junit.xml").exists())

    def test_the_help_names_every_option(self):
        options = set(re.findall(r"^    (--\w+(?:[ |\\\n]+--\w+)*)", GATE.read_text(), re.M))
        known = {word for group in options for word in re.findall(r"--\w+", group)} - {"--help"}
        shown = run(GATE, "--help").stdout
        self.assertGreater(len(known), 10)
        self.assertEqual([word for word in known if word not in shown], [])


if __name__ == "__main__":
    unittest.main()
