#!/usr/bin/env python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ci/claims.py on a checkout of its own: it fails for what it must, and passes what is right."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "claims.py"
PAGE = """# Page

- {mark}the profile ([{text}][smoke]) passed.

[smoke]: reports/results/smoke.json "{{passed}} of {{cases}} in {{seconds:.0f}} s"
"""
PROGRAM = """#!/bin/sh
[ "$1" = report ] && printf 'RingCheck 0.1.0, commit %s\\n\\n3 cases: 3 passed; 2.00 s\\n' fresh
"""


class Claims(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("docs", "reports/results", "cp"):
            (self.root / name).mkdir(parents=True)
        (self.root / "cp/code.cpp").write_text("one\n")
        (self.root / "program").write_text(PROGRAM)
        (self.root / "program").chmod(0o755)
        self.git("init", "-q")
        self.commit = self.committed()

    def git(self, *words):
        identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
        run = subprocess.run(["git", "-C", self.root, *identity, *words], check=True,
                             capture_output=True, text=True)
        return run.stdout.strip()

    def committed(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "state")
        return self.git("rev-parse", "HEAD")

    def result(self, name="smoke.json", commit=None, **summary):
        document = {"environment": {"commit": commit or self.commit, "wall_seconds": 36.2},
                    "summary": {"passed": 413, "cases": 413} | summary}
        (self.root / "reports/results" / name).write_text(json.dumps(document))

    def page(self, text="413 of 413 in 36 s", mark=""):
        (self.root / "README.md").write_text(PAGE.format(text=text, mark=mark))

    def claims(self, *options):
        program = str(self.root / "program")
        run = subprocess.run([SCRIPT, "--root", self.root, "--program", program, *options],
                             capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr

    def readme(self):
        return (self.root / "README.md").read_text()

    def test_a_page_that_reads_as_its_file(self):
        self.result()
        self.page()
        self.assertEqual(self.claims(), (0, "claims: 1 figures on 1 pages are those of their files\n"))

    def test_a_figure_broken_over_lines_is_the_same(self):
        self.result()
        self.page("413 of\n  413 in 36 s")
        self.assertEqual(self.claims()[0], 0)

    def test_another_figure(self):
        self.result(passed=412)
        self.page()
        code, said = self.claims()
        self.assertEqual(code, 1)
        self.assertIn("412 of 413", said)
        self.assertEqual(self.claims("--write")[0], 0)
        self.assertIn("[412 of 413 in 36 s][smoke]", self.readme())
        self.assertEqual(self.claims()[0], 0)

    def test_another_commit_in_a_mark(self):
        self.result()
        self.page(mark="Measured at 0123456, ")
        self.assertEqual(self.claims()[0], 1)
        self.claims("--write")
        self.assertIn(f"Measured at {self.commit[:7]}, ", self.readme())
        self.assertEqual(self.claims()[0], 0)

    def test_dirty_sources(self):
        self.result(commit=self.commit + "-dirty")
        self.page()
        code, said = self.claims()
        self.assertEqual(code, 1)
        self.assertIn("-dirty", said)

    def test_what_cannot_be_written(self):
        self.result()
        for line, reason in ((' "{passed} of {nothing}"', "nothing"),
                             ('x "{passed}"', "there is no reports/results/smoke.jsonx")):
            (self.root / "README.md").write_text(
                f"[413][smoke] passed\n\n[smoke]: reports/results/smoke.json{line}\n")
            code, said = self.claims()
            self.assertEqual(code, 1, said)
            self.assertIn(reason, said)
        (self.root / "README.md").write_text("<!--console of reports/results/gone.json-->\n```\n```\n")
        code, said = self.claims()
        self.assertEqual(code, 2)
        self.assertIn("gone.json", said)
        (self.root / "README.md").write_text("[413][smoke] passed\n")
        self.assertIn("[smoke] is not defined", self.claims()[1])

    def test_a_score_of_no_file(self):
        self.result()
        self.page(mark="12 of 12 cases, and ")
        code, said = self.claims()
        self.assertEqual(code, 1)
        self.assertIn("'12 of 12' is the figure of no file", said)

    def test_a_figure_of_several_files(self):
        self.result("a_1.json")
        self.result("a_2.json", passed=1, cases=2)
        (self.root / "README.md").write_text(
            '[414 of 415][a] passed\n\n[a]: reports/results "a_*: {passed} of {cases}"\n')
        self.assertEqual(self.claims()[0], 0)
        self.result("a_3.json")
        self.assertEqual(self.claims()[0], 1)

    def test_a_console_and_a_beginning(self):
        (self.root / "docs/detection.md").write_text("# Detection\n\nSeen: all.\n\nMore.\n")
        self.result()
        (self.root / "README.md").write_text(
            "<!--console of reports/results/smoke.json-->\n```\n$ verify\nRingCheck 0, commit old\n...\n"
            "9 cases: 9 passed; 1.00 s\n```\n\n<!--beginning of docs/detection.md-->\nSeen: some.\n\n.\n")
        self.assertEqual(self.claims()[0], 1)
        self.claims("--write")
        self.assertIn("$ verify\nRingCheck 0.1.0, commit fresh\n...\n3 cases: 3 passed", self.readme())
        self.assertIn("Seen: all.\n", self.readme())
        self.assertEqual(self.claims()[0], 0)

    def test_a_console_has_no_line_that_the_run_lacks(self):
        self.result()
        (self.root / "README.md").write_text(
            "<!--console of reports/results/smoke.json-->\n```\n  ----\n  elsewhere   7\n```\n")
        self.claims("--write")
        code, said = self.claims()
        self.assertEqual(code, 1)
        self.assertIn("a line that the run does not have", said)

    def test_the_median_of_a_benchmark(self):
        times = {"name": "time", "unit": "s", "parts": {"benchmark": "merge/P8"}, "samples": [0.003, 0.001, 0.002]}
        (self.root / "reports/results/bench.json").write_text(json.dumps(
            {"environment": {"commit": self.commit}, "measurements": [times]}))
        page = '[{text}][m]\n\n[m]: reports/results/bench.json "{{milliseconds[merge/{ranks}]:.2f}} ms"\n'
        (self.root / "README.md").write_text(page.format(text="2.00 ms", ranks="P8"))
        self.assertEqual(self.claims()[0], 0)
        (self.root / "README.md").write_text(page.format(text="2.00 ms", ranks="P4"))
        self.assertIn("no benchmark 'merge/P4'", self.claims()[1])

    def test_an_output(self):
        self.result()
        self.page()
        (self.root / "docs/plan.md").write_text("<!--output-->\n```\n$ ringcheck report smoke\nold\n```\nText.\n")
        self.assertEqual(self.claims()[0], 1)
        self.claims("--write")
        page = (self.root / "docs/plan.md").read_text()
        self.assertTrue(page.startswith("<!--output-->\n```\n$ ringcheck report smoke\nRingCheck 0.1.0"), page)
        self.assertTrue(page.endswith("\n```\nText.\n"), page)
        self.assertEqual(self.claims()[0], 0)

    def test_an_old_figure_needs_a_mark(self):
        self.result()
        self.page()
        self.committed()
        self.assertEqual(self.claims("--age")[0], 0)
        (self.root / "cp/code.cpp").write_text("two\n")
        self.committed()
        code, said = self.claims("--age")
        self.assertEqual(code, 1)
        self.assertIn(f"write `measured at {self.commit[:7]}` before it", said)
        self.assertIn("stale   smoke.json", self.claims("--stale")[1])
        self.page(mark=f"measured at {self.commit[:7]}, ")
        self.assertEqual(self.claims("--age")[0], 0)

    def test_a_file_without_a_commit_is_old(self):
        self.result(commit="")
        path = self.root / "reports/results/smoke.json"
        document = json.loads(path.read_text())
        del document["environment"]["commit"]
        path.write_text(json.dumps(document))
        self.page()
        self.assertEqual(self.claims("--age")[0], 1)
        self.page(mark="measured at an unrecorded commit, ")
        self.assertEqual((self.claims("--age")[0], self.claims()[0]), (0, 0))

    def test_without_a_history_it_cannot_tell(self):
        self.result()
        self.page()
        with tempfile.TemporaryDirectory() as folder:
            shallow = pathlib.Path(folder) / "shallow"
            self.committed()
            subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{self.root}", shallow],
                           check=True)
            tarball = pathlib.Path(folder) / "tarball"
            subprocess.run(["git", "-C", self.root, "worktree", "add", "-q", "--detach", tarball],
                           check=True, capture_output=True)
            (tarball / ".git").unlink()
            for root in (shallow, tarball):
                self.root = root
                self.assertEqual(self.claims()[0], 0)
                code, said = self.claims("--age")
                self.assertEqual(code, 77)
                self.assertIn("cannot tell", said)

    def test_a_result_that_nothing_quotes_is_listed(self):
        self.result()
        self.result("other.json")
        self.page()
        self.assertIn("unused  other.json", self.claims("--stale")[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
