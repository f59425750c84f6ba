#!/usr/bin/python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ci/dashboard_test.py PROGRAM   the dashboard in a browser, used as people do: what it shows is what the database says.
Exit code 77: there is no Chromium, or no python3-websocket."""
import collections
import json
import pathlib
import re
import sqlite3
import statistics
import sys
import tempfile
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
try:
    from browser import browser, contrast, histories  # noqa: E402
except ModuleNotFoundError as missing:
    print(f"dashboard: {missing}; install Debian's python3-websocket")
    sys.exit(77)

VIEWS = ("overview", "trends", "compare", "bugs", "errors", "limits", "cases", "ranks", "roofline")
WIDE, PHONE = (1440, 1000), (390, 844)
SMOKE = json.loads((histories.RESULTS / "cpu_smoke.json").read_text())["summary"]["cases"]
PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else "ringcheck"


class Dashboard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        cls.history = histories.mixed(PROGRAM, folder)
        cls.url = histories.page_of(PROGRAM, cls.history, folder / "page.html")
        cls.base = sqlite3.connect(f"file:{cls.history}?mode=ro", uri=True)
        cls.at = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.at.close()
        cls.base.close()
        cls.folder.cleanup()

    def setUp(self):
        self.at.prefer("light")
        self.at.resize(*WIDE)
        self.at.complaints()

    def tearDown(self):
        self.assertEqual(self.at.complaints(), [])

    def query(self, sql, *values):
        return self.base.execute(sql, values).fetchall()

    def one(self, sql, *values):
        return self.query(sql, *values)[0][0]

    def open(self, address=""):
        self.at.open(self.url + address)

    def test_every_view_is_drawn_at_both_widths_in_light_and_dark(self):
        marks = {"overview": ".tile .mark", "trends": ".small-multiple svg path.line", "compare": ".ratio circle", "bugs": ".heat .cell.first",
                 "errors": ".histogram rect.under", "limits": ".small-multiple path.line", "cases": "tbody tr", "ranks": ".bars rect.part", "roofline": ".roof path.dot"}
        for size in (WIDE, PHONE):
            for scheme in ("light", "dark"):
                self.at.resize(*size)
                self.at.prefer(scheme)
                for view in VIEWS:
                    with self.subTest(view=view, size=size, scheme=scheme):
                        self.open(f"#view={view}")
                        self.assertGreater(self.at.count(marks[view]), 0)
                        self.assertLessEqual(self.at.run("document.documentElement.scrollWidth"), size[0])
                        self.assertEqual(self.at.texts("#views [aria-current]"), [{"bugs": "Planted bugs", "limits": "Detection limits"}.get(view, view.title())])

    def test_tiles_are_the_newest_runs_of_each_gpu_and_branch(self):
        self.open()
        tiles = self.at.run("""[...document.querySelectorAll(".tile")].map((t) => [t.dataset.gpu, t.dataset.branch,
          t.querySelector(".verdict").innerText.replaceAll(",", ""), t.querySelectorAll(".mark").length])""")
        self.assertEqual(len(tiles), 3)
        for gpu, branch, verdict, marks in tiles:
            where = "device LIKE ? AND branch = ? AND cases > 0"
            runs = self.query(f"SELECT passed, cases, failed, crash + hang, inconclusive FROM runs WHERE {where} ORDER BY started, run",
                              "cpu" if gpu == "CPU" else f"%{gpu}%", branch)
            passed, cases, failed, ended, inconclusive = runs[-1]
            self.assertIn(f"{passed} of {cases} passed", verdict)
            self.assertIn("CRASH" if ended else "FAIL" if failed else "OPEN" if inconclusive else "PASS", verdict)
            self.assertEqual(marks, len(runs))

    def test_runs_are_those_of_the_table(self):
        self.open()
        shown = self.at.texts("section.card:last-child tbody td:nth-child(7)")
        self.assertEqual(shown, [row[0][:8] for row in self.query("SELECT commit_id FROM runs ORDER BY started DESC, run DESC")])

    def test_filters_choose_and_stand_in_the_address(self):
        trends = "SELECT count(DISTINCT series || machine || branch) FROM points JOIN runs USING (run) JOIN series USING (series) WHERE "
        self.open("#view=trends")
        self.at.choose("metric", "largest error in sigmas")
        self.at.choose("gpu", "NVIDIA H200")
        expected = self.one(trends + "name = 'largest error in sigmas' AND device LIKE '%H200%'")
        self.assertIn(f"{expected} series", self.at.texts(".controls .quiet")[0].replace(",", "").replace("\xa0", " "))
        self.at.choose("dtype", "bf16")
        self.at.choose("kernel", "cudnn")
        expected = self.one(trends + "name = 'largest error in sigmas' AND device LIKE '%H200%' AND json_extract(parts, '$.dtype') = 'bf16' "
                            "AND json_extract(parts, '$.kernel') = 'cudnn'")
        self.assertGreater(expected, 0)
        self.assertEqual(self.at.count(".small-multiple"), expected)
        address = self.at.run("location.hash")
        for word in ("gpu=NVIDIA+H200", "dtype=bf16", "kernel=cudnn", "view=trends"):
            self.assertIn(word, address)
        self.open(address)
        self.assertEqual(self.at.count(".small-multiple"), expected)
        self.at.click("#filters .clear")
        self.assertNotIn("dtype", self.at.run("location.hash"))

    def test_the_back_button_goes_back(self):
        self.open("#view=cases")
        self.at.choose("dtype", "fp16")
        self.at.run("history.back()")
        self.at.wait("!location.hash.includes('fp16')")
        self.assertEqual(self.at.run("document.querySelector('select[name=dtype]').value"), "")

    def test_a_trend_shows_the_values_of_the_database(self):
        self.open("#view=trends")
        self.at.choose("metric", "FLOP/s")
        self.at.click(".small-multiple")
        self.at.wait("document.querySelector('.big svg')")
        shown = self.at.run("[...document.querySelectorAll('tbody data')].map((d) => Number(d.value))")
        name = self.at.texts("h2")[0].removeprefix("FLOP/s of ")
        values = self.query("SELECT median FROM points JOIN series USING (series) JOIN runs USING (run) WHERE name = 'FLOP/s' "
                            "AND json_extract(parts, '$.benchmark') = ? ORDER BY started DESC", name)
        self.assertTrue(shown)
        self.assertLessEqual(set(shown), {float(f"{value:.6g}") for (value,) in values})

    def test_one_goes_from_a_failure_to_its_case_and_command(self):
        self.open("#branch=fix+%3Cit%3E")
        failures = self.query("SELECT name FROM verdicts JOIN cases USING (case_id) JOIN runs USING (run) WHERE branch = 'fix <it>' AND verdict = 'fail'")
        self.assertIn(f"{len(failures) + 1} cases", self.at.texts(".note")[0].replace("\xa0", " "))
        self.assertGreater(len(failures), 12)
        self.assertIn(f"; 12 of {len(failures) + 1} are shown", self.at.texts(".note")[0])
        self.assertEqual(self.at.count("section.card:nth-child(2) tbody tr"), 12)
        self.at.click("section.card tbody a")
        self.at.wait("location.hash.includes('view=case')")
        command = self.at.texts(".command code")[0]
        name = re.fullmatch("ringcheck verify --case '(.*)'", command).group(1)
        self.assertIn(name, {row[0] for row in failures} | {row[0] for row in self.query("SELECT name FROM cases")})
        self.at.click(".copy")
        self.at.wait("document.querySelector('.copy').textContent === 'Copied'")
        self.open("#view=cases&verdict=fail&branch=fix+%3Cit%3E")
        self.assertEqual(sorted(self.at.texts("tbody td:nth-child(2)")), sorted(row[0] for row in failures))
        self.at.click("tbody a")
        self.at.wait("document.querySelector('.findings')")
        self.assertIn(histories.HOSTILE, "\n".join(self.at.texts(".findings li")))

    def test_what_is_said_of_a_case_is_what_the_result_has(self):
        result = json.loads((histories.RESULTS / "cpu_smoke.json").read_text())
        case = next(case for case in result["cases"] if len(case["ranks"]) == 4 and any(map(any, (rank["sent_to"] for rank in case["ranks"]))))
        self.at.open(histories.page_of(PROGRAM, str(histories.RESULTS / "cpu_smoke.json"), pathlib.Path(self.folder.name) / "run.html") + "#view=cases&find=" + urllib.parse.quote(case["name"], safe=""))
        self.at.click("tbody a")
        self.at.wait("document.querySelector('.heat')")
        self.assertEqual(self.at.count(".bars rect.part"), 4 * 3 * 2 + 4 * 3)
        sent = {(i, j): n for i, rank in enumerate(case["ranks"]) for j, n in enumerate(rank["sent_to"]) if n and i != j}
        self.assertEqual(self.at.count(".heat .cell.bytes text"), len(sent))

    def test_an_error_far_above_its_bound_leaves_the_others_readable(self):
        self.open("#view=errors")
        self.assertEqual(self.at.run("[...document.querySelectorAll('.boxes .beyond')].map((e) => e.textContent)"), ["▲ 5.1"])
        self.assertEqual(self.at.run("Math.max(...[...document.querySelectorAll('.boxes .tick text')].map((e) => Number(e.textContent) || 0))"), 2)

    def test_the_kill_matrix_is_that_of_the_result(self):
        faults = json.loads((histories.RESULTS / "h200_gpu1_faults_wgmma.json").read_text())["faults"]
        self.open("#view=bugs")
        number = self.at.run("[...document.querySelectorAll('select[name=matrix] option')].find((o) => o.text.includes('H200')).value")
        self.at.choose("matrix", number)
        facts = dict(zip(self.at.texts("#score dt"), map(int, self.at.texts("#score dd"))))
        killed = {True: "killed and placed", False: "killed, not placed"}
        results = collections.Counter(killed[cell["localised"]] if cell["result"] == "killed" else cell["result"].replace("_", " ")
                                      for cell in faults["cells"])
        self.assertEqual(facts, dict(results))
        seen = sum(1 for cell in faults["cells"] for verdict in cell["seen_by"].values() if verdict == "fail")
        self.assertEqual(self.at.count(".heat .cell.seen"), seen)

    def test_limits_of_detection_are_those_of_the_results(self):
        parity = [limit for limit in histories.limits(4, "")["sensitivity"]["limits"] if limit["by"] == "parity" and limit["epsilon"]]
        self.open("#view=limits&dtype=bf16")
        shown = self.at.run("[...document.querySelectorAll('.small-multiple data')].map((d) => Number(d.value))")
        self.assertEqual(sorted(shown), sorted(float(f"{limit['epsilon']:.6g}") for limit in parity if limit["dtype"] == "bf16"))

    def test_the_matrix_is_used_by_keyboard(self):
        self.open("#view=bugs")
        self.at.run("document.querySelector('svg.heat').focus()")
        self.at.press("ArrowDown")
        first = self.at.texts(".readout")[0]
        self.at.press("ArrowRight")
        self.assertNotEqual(self.at.texts(".readout")[0], first)
        self.assertIn(" × ", first)
        for _ in range(60):
            if "nothing" not in self.at.texts(".readout")[0]:
                break
            self.at.press("ArrowDown")
        self.at.press("Enter")
        self.at.wait("document.querySelector('dialog').open")
        self.assertIn("ringcheck faults --fault", self.at.texts("dialog .command code")[0])
        self.at.press("Escape")
        self.at.wait("!document.querySelector('dialog').open")

    def test_tab_begins_at_the_skip_link_and_reaches_every_view(self):
        self.open()
        reached = []
        for _ in range(14):
            self.at.press("Tab")
            reached.append(self.at.run("document.activeElement.innerText || document.activeElement.name"))
            if len(reached) > 1:
                self.assertNotEqual(self.at.run("getComputedStyle(document.activeElement).outlineStyle"), "none", reached[-1])
        self.assertEqual(reached[0], "Skip to content")
        self.assertLess({"Overview", "Trends", "Compare", "Planted bugs", "Errors", "Detection limits", "Cases", "Ranks", "Roofline"}, set(reached))

    def test_a_trend_is_read_by_arrow_keys(self):
        self.open("#view=trends&metric=largest+error+in+sigmas&gpu=CPU")
        self.at.click(".small-multiple")
        self.at.wait("document.querySelector('.big svg')")
        self.at.run("document.querySelector('.big svg').focus()")
        self.at.press("ArrowLeft")
        self.assertIn(" at ", self.at.texts(".big .readout")[0])

    def test_dark_is_the_system_s_choice_or_one_s_own(self):
        background = "getComputedStyle(document.body).backgroundColor"
        self.open()
        light = self.at.run(background)
        self.at.prefer("dark")
        self.open()
        dark = self.at.run(background)
        self.assertNotEqual(light, dark)
        self.at.click("#theme")
        self.at.wait(f"{background} === '{light}'")
        self.assertIn("theme=light", self.at.run("location.hash"))

    def test_text_can_be_read_in_both_themes(self):
        for scheme in ("light", "dark"):
            self.at.prefer(scheme)
            for view in ("overview", "cases"):
                self.open(f"#view={view}")
                worst, what = contrast.worst(self.at)
                self.assertGreaterEqual(worst, 4.5, f"{scheme} {view}: {what}")

    def test_verdicts_have_marks_and_words(self):
        self.open("#view=cases&branch=fix+%3Cit%3E")
        self.assertEqual({"✕ fail", "⧖ hang", "✓ pass"}, set(self.at.texts(".badge")))

    def test_two_runs_are_compared(self):
        self.open("#view=compare")  # at first two that can be compared
        self.assertEqual([note for note in self.at.texts(".note") if note.startswith("0 cases in both")], [])
        ids = {branch: self.one("SELECT id FROM runs WHERE branch = ? AND device = 'cpu' AND cases = ?", branch, SMOKE) for branch in ("main", "fix <it>")}
        self.at.choose("new", ids["fix <it>"])
        self.at.choose("base", ids["main"])
        changed = self.one("SELECT count(*) FROM verdicts JOIN runs USING (run) WHERE id = ? AND verdict <> 'pass'", ids["fix <it>"])
        self.assertEqual(self.at.count("section.card:nth-child(2) tbody tr"), changed)
        self.assertEqual(self.at.texts(".command code")[0].split()[2:4], [ids["main"][:8], ids["fix <it>"][:8]])

    def test_what_is_slower_is_worse_whichever_way_is_better(self):
        folder, history = pathlib.Path(self.folder.name), pathlib.Path(self.folder.name) / "slower.db"
        result = json.loads((histories.RESULTS / "h200_gpu4_scaling_nccl.json").read_text())
        for hour, slowdown in ((1, 1), (2, 2), (3, 1.25)):  # each over the one before it, which is what the newest is set beside
            result["environment"]["started"] = f"2026-11-22T0{hour}:00:00Z"
            for one in result["measurements"]:
                one["samples"] = [sample / slowdown if one["better"] == "larger" else sample * slowdown for sample in one["samples"]]
            (folder / "slower.json").write_text(json.dumps(result))
            histories.add(PROGRAM, str(history), str(folder / "slower.json"), "main")
        self.at.open(histories.page_of(PROGRAM, str(history), folder / "slower.html") + "#view=compare")
        ways = {one["better"] for one in result["measurements"] if statistics.median(one["samples"]) > 0}
        self.assertLessEqual({"smaller", "larger"}, ways)
        shown = self.at.texts("section.card:nth-child(3) tbody td:nth-child(6)")
        self.assertEqual({text.replace("\u202f", " ") for text in shown}, {"+25 %"})
        self.assertEqual(len(shown), sum(bool(one["better"]) and statistics.median(one["samples"]) > 0 for one in result["measurements"]))

    def test_one_result_has_a_page_of_its_own(self):
        url = histories.page_of(PROGRAM, str(histories.RESULTS / "cpu_smoke.json"), pathlib.Path(self.folder.name) / "run.html")
        self.at.open(url)
        self.assertEqual(self.at.count(".tile"), 1)
        self.assertIn(f"{SMOKE} of {SMOKE} passed", self.at.texts(".tile .verdict")[0])
        self.at.click(".tile .verdict a")
        self.at.wait("location.hash.includes('view=run') && document.querySelector('.command code')")
        self.assertEqual(self.at.texts(".command code")[0], "ringcheck report cpu_smoke.json")
        self.at.open(url + "#view=compare")  # nothing to compare it with
        self.assertEqual((self.at.count(".command"), self.at.count("tbody")), (0, 0))
        for view in VIEWS:
            self.at.open(url + f"#view={view}")
            self.assertGreater(self.at.count("#content *"), 3, view)


if __name__ == "__main__":
    if browser.program() is None:
        print("dashboard: no Chromium; install Debian's chromium-headless-shell")
        sys.exit(77)
    unittest.main()
