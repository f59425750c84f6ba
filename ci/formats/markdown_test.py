#!/usr/bin/python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ci/formats/markdown_test.py   Markdown of the program RINGCHECK_PROGRAM, as GitHub renders it (cmark-gfm)."""
import html.parser
import json
import unittest

from rendered import MEASURED, VERIFY, changed, rendered, result, run


class Page(html.parser.HTMLParser):
    """Headings, blocks of code, and tables as rows of cells."""

    def __init__(self, text):
        super().__init__()
        self.headings, self.blocks, self.tables, self.texts = [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("h2", "h3", "pre", "td", "th"):
            self.texts = []

    def handle_data(self, data):
        if self.texts is not None:
            self.texts.append(data)

    def handle_endtag(self, tag):
        if self.texts is None or tag not in ("h2", "h3", "pre", "td", "th"):
            return
        text = "".join(self.texts)
        {"h2": self.headings, "h3": self.headings, "pre": self.blocks}.get(
            tag, self.tables[-1][-1] if self.tables else []).append(text)
        self.texts = None


class Markdown(unittest.TestCase):
    def page(self, path):
        done = run("cmark-gfm", "-e", "table", "-e", "strikethrough", rendered(path, "markdown"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return Page(done.stdout)

    def test_the_verdict_comes_first(self):
        cases = json.loads(result("passed").read_text())["summary"]["cases"]
        words = {"passed": f"PASS: {cases} cases", "wrong": "FAIL: 1 case: 0 passed, 1 FAILED", "crash": "FAIL: 1 case",
                 "refused": "PASS: 2 cases: 1 passed, 1 not supported"}
        for name, begin in words.items():
            self.assertTrue(self.page(result(name)).headings[0].startswith(begin), name)

    def test_failures_come_with_their_command(self):
        for name in VERIFY:
            data = json.loads(result(name).read_text())
            self.assertEqual([block.strip() for block in self.page(result(name)).blocks],
                             [test["reproduce"] for test in data["cases"]
                              if test["verdict"] not in ("pass", "not_supported", "skipped")])

    def test_tables_are_whole(self):
        for path in [*map(result, VERIFY), *MEASURED]:
            for table in self.page(path).tables:
                self.assertEqual({len(row) for row in table}, {len(table[0])})
                self.assertGreater(len(table), 1)

    def test_the_worst_margin_is_the_worst(self):
        tensors = [tensor for test in json.loads(result("passed").read_text())["cases"]
                   for oracle in test["oracles"] for tensor in oracle["tensors"]]
        table = next(table for table in self.page(result("passed")).tables if table[0][2] == "error / bound")
        self.assertAlmostEqual(float(table[1][2]), max(tensor["hard_ratio"] for tensor in tensors), 3)

    def test_an_error_that_is_no_number_is_the_worst(self):
        def spoil(data):
            oracle = next(one for one in data["cases"][0]["oracles"] if one["name"] == "parity")
            ratios = {f"t{i}": 2 + i for i in range(20)} | {"u": "nan"}
            oracle["tensors"] = [oracle["tensors"][0] | {"tensor": name, "hard_ratio": ratio} for name, ratio in ratios.items()]
        table = next(table for table in self.page(changed(result("passed"), spoil)).tables if table[0][2] == "error / bound")
        self.assertEqual([row[1] for row in table[1:4]], ["u", "t19", "t18"])

    def test_what_nobody_judged_is_said(self):
        text = rendered(result("passed"), "markdown").read_text()
        nobody = [rank for test in json.loads(result("passed").read_text())["cases"]
                  for ranks in test["judged"].values() for rank in ranks if rank == "nobody"]
        self.assertTrue(nobody)
        self.assertIn(f"\n{len(nobody)} of ", text)

    def test_any_text_stays_text(self):
        def spoil(data):
            test = data["cases"][0]
            test["reason"] = "<script>alert(1)</script> | **bold** `code` [a](b) ~~gone~~"
            test["reproduce"] = "a ``` b"
        page = run("cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough",
                   rendered(changed(result("wrong"), spoil), "markdown")).stdout
        self.assertIn("&lt;script&gt;alert(1)&lt;/script&gt; | **bold** `code` [a](b) ~~gone~~", page)
        self.assertIn("a ``` b", page)


if __name__ == "__main__":
    unittest.main()
