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

    def test_ten_thousand_runs_of_a_hundred_series(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            history = histories.many(PROGRAM, folder, 10000, 100)
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            before, took = used.ru_utime + used.ru_stime, []
            for _ in range(3):
                histories.page_of(PROGRAM, history, folder / "page.html")
                used = resource.getrusage(resource.RUSAGE_CHILDREN)
                took.append(used.ru_utime + used.ru_stime - sum(took) - before)
            print(f"10000 runs of 100 series: the page of the newest 1000 in {min(took):.2f} s of a processor")
            self.assertLess(min(took), 1)


if __name__ == "__main__":
    if browser.program() is None:
        print("dashboard_speed: no Chromium; install Debian's chromium-headless-shell")
        sys.exit(77)
    unittest.main()
