#!/usr/bin/python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ci/timeline_test.py PROGRAM   the timelines of ranks in a browser: what is drawn is what the result has.
Exit code 77: there is no Chromium, or no python3-websocket."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
try:
    from browser import browser, contrast, histories  # noqa: E402
except ModuleNotFoundError as missing:
    print(f"timeline: {missing}; install Debian's python3-websocket")
    sys.exit(77)

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else "ringcheck"
CASES = ("ring:p2p/headtail/causal/thread/P4/hq2/hkv2/s256/d16/float32", "ring:allgather/contiguous/full/thread/P3/hq2/hkv2/s96/d16/float32")
PASSES = ("forward", "backward")
WIDE, PHONE = (1440, 1000), (390, 844)
DRAWN = """[...document.querySelectorAll("svg.timeline")].map((svg) => [...svg.querySelectorAll(".lane")].map((lane) =>
  [...lane.querySelectorAll(".event, .exposed")].map((e) => ({what: e.classList[e.classList.length - 1], begin: Number(e.dataset.begin), end: Number(e.dataset.end),
    x: e.getBBox().x + (e.tagName === "path" ? e.getBBox().width / 2 : 0), width: e.tagName === "path" ? 0 : e.getBBox().width}))))"""


def exposed(events):
    """When a message was under way and nothing attended, by each stretch between two times: the definition."""
    of = {what: [(e["begin"], e["end"]) for e in events if e["what"] == what] for what in ("attend", "receive")}
    times = sorted({time for stretches in of.values() for stretch in stretches for time in stretch})
    within = {what: lambda time, s=stretches: any(begin < time < end for begin, end in s) for what, stretches in of.items()}
    return sum(after - before for before, after in zip(times, times[1:])
               if within["receive"]((before + after) / 2) and not within["attend"]((before + after) / 2))


def kept(event):
    return all(isinstance(event[name], (int, float)) for name in ("begin", "end"))


class Timeline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        words = [word for case in CASES for word in ("--case", case)]
        subprocess.run([PROGRAM, "verify", *words, "--timeline", "--json", str(folder / "result.json")], check=True, stdout=subprocess.DEVNULL)
        cls.cases = json.loads((folder / "result.json").read_text())["cases"]
        cls.url = histories.page_of(PROGRAM, str(folder / "result.json"), folder / "run.html")
        cls.at = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.at.close()
        cls.folder.cleanup()

    def setUp(self):
        self.at.prefer("light")
        self.at.resize(*WIDE)
        self.at.complaints()

    def tearDown(self):
        self.assertEqual(self.at.complaints(), [])

    def open(self, case):
        """The page of a case; the numbers of cases on a page are the order in which it has met them."""
        self.at.open(self.url + "#view=cases")
        self.at.run(f"[...document.querySelectorAll('tbody a')].find((a) => a.innerText === {json.dumps(case['name'])}).click()")
        self.at.wait("document.querySelector('svg.timeline')")

    def test_every_event_is_drawn_where_it_was(self):
        for case in self.cases:
            self.open(case)
            drawn = self.at.run(DRAWN)
            for number, name in enumerate(PASSES):
                first, *others = [(mark["begin"], mark["x"]) for lane in drawn[number] for mark in lane]
                last = max(others)
                scale = (last[1] - first[1]) / (last[0] - first[0])
                self.assertEqual(len(drawn[number]), len(case["ranks"]))
                for lane, rank in zip(drawn[number], case["ranks"]):
                    with self.subTest(case=case["name"], of=name, rank=rank["rank"]):
                        events = [event for event in rank[name]["events"] if kept(event)]
                        marks = [mark for mark in lane if mark["what"] != "exposed"]
                        key = lambda e: (e["what"], e["begin"], e["end"])  # noqa: E731
                        self.assertEqual(sorted(map(key, marks)), sorted(map(key, events)))
                        for mark in marks:
                            self.assertAlmostEqual(mark["x"], first[1] + scale * (mark["begin"] - first[0]), delta=0.1)
                            if mark["what"] != "merge":
                                self.assertAlmostEqual(mark["width"], max(1, scale * (mark["end"] - mark["begin"])), delta=0.1)

    def test_exposed_communication_is_that_of_the_result(self):
        for case in self.cases:
            self.open(case)
            drawn = self.at.run(DRAWN)
            for number, name in enumerate(PASSES):
                for lane, rank in zip(drawn[number], case["ranks"]):
                    with self.subTest(case=case["name"], of=name, rank=rank["rank"]):
                        events = rank[name]["events"]
                        rounding = 1e-9 * (len(events) + 1)  # each time is rounded to a nanosecond
                        self.assertAlmostEqual(rank[name]["seconds"]["exposed"], exposed(events), delta=rounding)
                        self.assertAlmostEqual(sum(mark["end"] - mark["begin"] for mark in lane if mark["what"] == "exposed"), exposed(events), delta=rounding)

    def test_the_table_has_every_event(self):
        self.open(self.cases[0])
        self.at.click(".pass details summary")
        self.at.wait("document.querySelector('.pass tbody')")
        rows = self.at.run("[...document.querySelector('.pass tbody').rows].map((r) => [Number(r.cells[0].innerText), r.cells[1].innerText])")
        self.assertEqual(rows, [[rank["rank"], event["what"]] for rank in self.cases[0]["ranks"] for event in rank["forward"]["events"]])

    def test_arrow_keys_go_through_it(self):
        case = self.cases[0]
        self.open(case)
        self.at.run("document.querySelector('svg.timeline').focus()")
        said = "document.querySelector('.timeline-box .readout').innerText"
        for number, event in enumerate(case["ranks"][0]["forward"]["events"], 1):
            self.at.press("ArrowRight")
            self.assertTrue(self.at.run(said).startswith(f"rank 0, {number} of {len(case['ranks'][0]['forward']['events'])}: {event['what']}"), self.at.run(said))
        self.at.press("ArrowDown")
        self.assertIn("rank 1, ", self.at.run(said))
        self.assertEqual(self.at.run("document.querySelector('.timeline .focus').getAttribute('visibility')"), "visible")
        self.at.press("ArrowUp")
        self.assertIn("rank 0, ", self.at.run(said))

    def test_it_fits_and_can_be_read_at_both_widths_in_light_and_dark(self):
        for size in (WIDE, PHONE):
            for scheme in ("light", "dark"):
                with self.subTest(size=size, scheme=scheme):
                    self.at.resize(*size)
                    self.at.prefer(scheme)
                    self.open(self.cases[0])
                    self.assertLessEqual(self.at.run("document.documentElement.scrollWidth"), size[0])
                    self.assertGreaterEqual(contrast.worst(self.at)[0], 4.5)
                    self.assertEqual(self.at.count("svg.timeline"), 2)
                    fills = {what: self.at.run(f"getComputedStyle(document.querySelector('.timeline .event.{what}')).fill") for what in ("attend", "receive", "send", "merge")}
                    self.assertEqual(len(set(fills.values())), 4, "kinds of events look alike")

    def test_the_view_of_ranks_begins_with_one_that_has_events(self):
        self.at.open(self.url + "#view=ranks")
        self.assertEqual(self.at.count("svg.timeline"), 2)

    def test_without_events_a_page_says_how_to_have_some(self):
        url = histories.page_of(PROGRAM, str(histories.RESULTS / "cpu_smoke.json"), pathlib.Path(self.folder.name) / "without.html")
        self.at.open(url + "#view=ranks")
        self.assertEqual(self.at.count("svg.timeline"), 0)
        self.assertIn(" --timeline --json result.json", "".join(self.at.texts(".empty .command code")))


if __name__ == "__main__":
    if browser.program() is None:
        print("timeline: no Chromium; install Debian's chromium-headless-shell")
        sys.exit(77)
    unittest.main()
