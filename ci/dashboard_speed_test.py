#!/usr/bin/python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ci/dashboard_speed_test.py PROGRAM   the dashboard of very many runs: how large, how soon drawn, how soon made.
Exit code 77: there is no Chromium, or no python3-websocket."""
import pathlib
import resource
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
try:
    from browser import browser, histories  # noqa: E402
except ModuleNotFoundError as missing:
    print(f"dashboard_speed: {missing}; install Debian's python3-websocket")
    sys.exit(77)

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else "ringcheck"


def of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def processor_seconds(work):
    before = of_children()
    work()
    return of_children() - before


class ManyRuns(unittest.TestCase):
    def test_a_thousand_runs_of_a_hundred_series(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            page = folder / "page.html"
            url = histories.page_of(PROGRAM, histories.many(PROGRAM, folder, 1000, 100), page)
            self.assertLess(page.stat().st_size, 3 << 20)
            at = browser.Browser()
            try:
                at.resize(1440, 1000)
                for view in ("overview", "trends"):
                    took = []
                    for _ in range(3):
                        at.open(url + f"#view={view}&metric=time")
                        took.append(at.run("Number(document.documentElement.dataset.drawn)"))
                    print(f"1000 runs of 100 series, {view}: {page.stat().st_size / (1 << 20):.2f} MiB, drawn in {min(took)} ms")
                    self.assertLess(min(took), 1000)
                self.assertEqual(at.count(".small-multiple .tag.fair"), 10)  # those that became slower
                self.assertEqual(at.complaints(), [])
            finally:
                at.close()

    def test_the_page_of_ten_thousand_runs_costs_little_more_than_that_of_a_thousand(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            thousand, ten_thousand = (histories.many(PROGRAM, folder, runs, 100) for runs in (1000, 10000))
            least = {}
            for history in (thousand, ten_thousand) * 3:  # in turns: what else runs here slows both
                took = processor_seconds(lambda: histories.page_of(PROGRAM, history, folder / "page.html"))
                least[history] = min(took, least.get(history, took))
            print(f"100 series: the page of the newest 1000 runs takes {least[thousand]:.2f} s of a processor of 1000, "
                  f"{least[ten_thousand]:.2f} s of 10000")
            self.assertLess(least[ten_thousand], 2 * least[thousand])


if __name__ == "__main__":
    if browser.program() is None:
        print("dashboard_speed: no Chromium; install Debian's chromium-headless-shell")
        sys.exit(77)
    unittest.main()
