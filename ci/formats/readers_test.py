#!/usr/bin/python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ci/formats/readers_test.py   every format of `ringcheck report render`, of the program RINGCHECK_PROGRAM, read by
who reads it: xmllint with the schema of Jenkins' xUnit plugin, promtool, Google Benchmark's compare.py."""
import collections
import datetime
import json
import os
import pathlib
import statistics
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import jsonschema

from rendered import FOLDER, MEASURED, PROGRAM, RESULTS, ROOT, VERIFY, changed, rendered, result, run

PROMTOOL = pathlib.Path(os.environ.get("RINGCHECK_TOOLS", "/nowhere"), "bin/promtool")  # ci/environment.sh
# Of Jenkins' xUnit plugin, by Gregory Boissinot, MIT; as the sources of pytest 9.2.0 have it.
SCHEMA = ROOT / "property_tests/reports/junit-10.xsd"
COMPARE = "/usr/share/benchmark/compare.py"


class JUnit(unittest.TestCase):
    def obeys(self, path):
        return run("xmllint", "--noout", "--schema", SCHEMA, path)

    def test_obeys_the_schema_of_jenkins(self):
        for name in VERIFY:
            done = self.obeys(rendered(result(name), "junit"))
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_schema_is_asked(self):
        text = rendered(result("wrong"), "junit").read_text()
        for right, wrong in (("<testcase name=", "<testcase nom="), ("</testcase>", "<properties/></testcase>"),
                             ("<failure ", "<failing "), ("</failure>", "</failing>")):
            path = pathlib.Path(FOLDER.name, "bad.xml")
            path.write_text(text.replace(right, wrong))
            self.assertNotEqual(self.obeys(path).returncode, 0, wrong)

    def test_has_every_case_with_seed_and_command(self):
        for name in VERIFY:
            data = json.loads(result(name).read_text())
            root = xml.etree.ElementTree.parse(rendered(result(name), "junit")).getroot()
            suites = root.findall("testsuite")
            self.assertEqual([suite.find("testcase").get("name") for suite in suites],
                             [test["name"] for test in data["cases"]])
            for suite, test in zip(suites, data["cases"]):
                properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
                self.assertEqual(properties["reproduce"], test["reproduce"])
                self.assertEqual(properties["seed"], test["parts"]["seed"])
            for kind, verdicts in (("failures", ["failed"]), ("errors", ["hang", "crash", "inconclusive"])):
                self.assertEqual(int(root.get(kind)), sum(data["summary"][one] for one in verdicts))

    def test_what_is_waived_obeys_it_too(self):
        waivers, file = pathlib.Path(FOLDER.name, "waivers.json"), pathlib.Path(FOLDER.name, "waived.xml")
        for until, counts in (("2999-01-01", ("0", None)), ("2000-01-01", ("2", "waivers"))):
            waivers.write_text(json.dumps({"waivers": [{"case": "*", "finding": "*", "reason": "a < b", "until": until}]}))
            done = run(PROGRAM, "report", "render", result("wrong"), "--as", "junit", "--waivers", waivers, "-o", file)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.obeys(file).returncode, 0, self.obeys(file).stderr)
            root = xml.etree.ElementTree.parse(file).getroot()
            last = root.findall("testsuite")[-1].get("name")
            self.assertEqual((root.get("failures"), last if last == "waivers" else None), counts)

    def test_a_dead_rank_leaves_the_end_of_what_it_wrote(self):
        written = "".join(f"line {i} <&>\n" for i in range(1000))
        path = changed(result("crash"), lambda data: data["cases"][0].update(log=written))
        self.assertEqual(self.obeys(rendered(path, "junit")).returncode, 0)
        root = xml.etree.ElementTree.parse(rendered(path, "junit")).getroot()
        self.assertEqual(root.find("testsuite/testcase/system-err").text, written[-4000:])


class OpenMetrics(unittest.TestCase):
    def read_back(self, path):
        """The samples of a database that Prometheus made of the file."""
        with tempfile.TemporaryDirectory() as folder:
            made = run(PROMTOOL, "tsdb", "create-blocks-from", "openmetrics", rendered(path, "openmetrics"), folder)
            self.assertEqual(made.returncode, 0, made.stderr + made.stdout)
            pathlib.Path(folder, "wal").mkdir()  # a database that is read has one
            return run(PROMTOOL, "tsdb", "dump", folder).stdout.splitlines()

    def value(self, samples, *words):
        found = [line for line in samples if all(word in line for word in words)]
        self.assertEqual(len(found), 1, (words, found))
        return float(found[0].rsplit(" ", 2)[1])

    def test_prometheus_reads_verdicts(self):
        for name in VERIFY:
            data = json.loads(result(name).read_text())
            samples = self.read_back(result(name))
            for verdict, count in data["summary"].items():
                if verdict != "cases":
                    self.assertEqual(self.value(samples, '"ringcheck_cases"', f'verdict="{verdict}"'), count)

    def test_prometheus_reads_measurements(self):
        for path in MEASURED:
            samples = self.read_back(path)
            for one in json.loads(path.read_text())["measurements"]:
                words = [f'measurement="{one["name"]}"', *(f'{part.lower()}="{value}"' for part, value in one["parts"].items())]
                for statistic, of in (("median", statistics.median), ("least", min), ("most", max)):
                    self.assertAlmostEqual(self.value(samples, *words, f'statistic="{statistic}"'), of(one["samples"]))

    def test_its_time_is_that_of_the_start_wherever_it_is_written(self):
        started = json.loads(MEASURED[0].read_text())["environment"]["started"]
        done = run(PROGRAM, "report", "render", MEASURED[0], "--as", "openmetrics", env=os.environ | {"TZ": "JST-9"})
        times = {int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines() if not line.startswith("#")}
        self.assertEqual(times, {datetime.datetime.fromisoformat(started.replace("Z", "+00:00")).timestamp()})

    def test_names_end_in_their_unit(self):
        words = {"s": "_seconds", "B": "_bytes"}
        for path in MEASURED:
            lines = rendered(path, "openmetrics").read_text().splitlines()
            units = {one["name"]: one["unit"] for one in json.loads(path.read_text())["measurements"]}
            self.assertTrue(set(units.values()) & set(words))
            for name, unit in units.items():
                metrics = {line.split("{")[0] for line in lines if f'measurement="{name}"' in line}
                self.assertEqual(len(metrics), 1, name)
                if unit in words:
                    self.assertTrue(metrics.pop().endswith(words[unit]), name)

    def test_any_text_can_be_a_label(self):
        def spoil(data):
            data["environment"]["host"] = 'a"b\\c\nd'
            data["measurements"][0]["parts"] = {"9 lives": "x", "9_lives": "y", "statistic": "z", "": "w"}
            data["measurements"][0]["samples"] += ["nan", "inf"]
        samples = self.read_back(changed(MEASURED[0], spoil))
        self.value(samples, '="x"', '="y"', '="z"', '="w"', 'statistic="median"')  # names that fall together overwrite none


class GoogleBenchmark(unittest.TestCase):
    def test_its_own_comparison_reads_two(self):
        def slower(data):
            for one in data["measurements"]:
                one["samples"] = [1.1 * sample for sample in one["samples"]]
        for path in MEASURED:
            base = rendered(path, "google-benchmark")
            new = rendered(changed(path, slower), "google-benchmark")
            found = pathlib.Path(FOLDER.name, "differences.json")
            done = run(sys.executable, COMPARE, "-d", found, "benchmarks", base, new)
            self.assertEqual(done.returncode, 0, done.stderr)
            times = [one for one in json.loads(path.read_text())["measurements"] if one["unit"] == "s"]
            compared = [one for one in json.loads(found.read_text()) if one["run_type"] == "iteration"]
            self.assertEqual(len(compared), len(times))
            for benchmark, one in zip(compared, times):
                self.assertEqual(len(benchmark["measurements"]), len(one["samples"]))
                for measurement in benchmark["measurements"]:
                    self.assertAlmostEqual(measurement["time"], 0.1)

    def test_counters_stand_beside_their_time(self):
        data = json.loads(MEASURED[0].read_text())
        entry = json.loads(rendered(MEASURED[0], "google-benchmark").read_text())["benchmarks"][0]
        rate = next(one for one in data["measurements"] if one["name"] == "FLOP/s")
        self.assertEqual(entry["FLOP/s"], rate["samples"][0])

    def test_a_time_is_as_long_as_it_was(self):
        units = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}  # of Google Benchmark
        for path in MEASURED:
            entries = json.loads(rendered(path, "google-benchmark").read_text())["benchmarks"]
            samples = [sample for one in json.loads(path.read_text())["measurements"] if one["unit"] == "s" for sample in one["samples"]]
            self.assertEqual(len(entries), len(samples))
            for entry, sample in zip(entries, samples):
                for time in ("real_time", "cpu_time"):
                    self.assertAlmostEqual(entry[time] * units[entry["time_unit"]] / sample, 1)


NUMBERS = {"type": "object", "additionalProperties": {"type": "number"}}
# As their pages describe what they read.
FORMS = {
    "bencher": {"type": "object", "minProperties": 1, "additionalProperties": {
        "type": "object", "minProperties": 1, "propertyNames": {"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"},
        "additionalProperties": NUMBERS | {"required": ["value"]}}},
    "github-action-benchmark-smaller": {"type": "array", "minItems": 1, "items": {
        "type": "object", "required": ["name", "unit", "value"],
        "properties": {"name": {"type": "string"}, "unit": {"type": "string"}, "value": {"type": "number"},
                       "range": {"type": "string"}, "extra": {"type": "string"}}}},
    "superbench": {"type": "object", "required": ["node"], "properties": {"node": {"type": "string"}},
                   "additionalProperties": {"type": "number"}},
}
FORMS["github-action-benchmark-larger"] = FORMS["github-action-benchmark-smaller"]


class Dashboards(unittest.TestCase):
    """Whose readers do not install here: their documented form."""

    def test_measurements_have_the_form(self):
        for form, schema in FORMS.items():
            for path in MEASURED:
                jsonschema.validate(json.loads(rendered(path, form).read_text()), schema)

    def test_every_series_is_there(self):
        for path in MEASURED:
            measured = json.loads(path.read_text())["measurements"]
            for better in ("smaller", "larger"):
                values = json.loads(rendered(path, f"github-action-benchmark-{better}").read_text())
                self.assertEqual([one["unit"] for one in values], [one["unit"] for one in measured if one["better"] == better])
                self.assertEqual([one["value"] for one in values],
                                 [statistics.median(one["samples"]) for one in measured if one["better"] == better])
            bencher = json.loads(rendered(path, "bencher").read_text())
            self.assertEqual(sum(len(measures) for measures in bencher.values()), len(measured))
            for key, of in (("value", statistics.median), ("lower_value", min), ("upper_value", max)):
                nanoseconds = sorted(measures["latency"][key] for measures in bencher.values() if "latency" in measures)
                times = sorted(1e9 * of(one["samples"]) for one in measured if (one["name"], one["unit"]) == ("time", "s"))
                self.assertEqual([f"{one:.12g}" for one in nanoseconds], [f"{one:.12g}" for one in times])

    def test_series_under_one_name_are_told_apart(self):
        def name_alike(data):
            for one in data["measurements"]:
                one["parts"]["benchmark"] = "attend"
        path = MEASURED[1]  # whose cases tell its series apart
        alike = changed(path, name_alike)
        count = len(json.loads(path.read_text())["measurements"])
        bencher = json.loads(rendered(alike, "bencher").read_text())
        self.assertEqual(sum(len(measures) for measures in bencher.values()), count)
        line = json.loads(rendered(alike, "superbench").read_text())
        self.assertEqual(sum("/attend " in metric for metric in line), count)

    def test_a_part_that_only_some_series_have_tells_them_apart(self):
        def split_one(data):
            data["measurements"] = [data["measurements"][0] | {"parts": parts} for parts in ({}, {"split": "2"})]
        path = changed(MEASURED[1], split_one)
        values = json.loads(rendered(path, "github-action-benchmark-smaller").read_text())
        self.assertEqual(len({one["name"] for one in values}), 2)
        self.assertEqual(len(json.loads(rendered(path, "bencher").read_text())), 2)

    def test_a_node_has_a_line(self):
        for name in VERIFY:
            data = json.loads(result(name).read_text())
            lines = rendered(result(name), "superbench").read_text().splitlines()
            self.assertEqual(len(lines), 1)
            line = json.loads(lines[0])
            jsonschema.validate(line, FORMS["superbench"])
            self.assertEqual(line["ringcheck-verify/cases/failed"], data["summary"]["failed"])
            messages = collections.defaultdict(int)
            for rank in (rank for test in data["cases"] for rank in test["ranks"]):
                messages[rank["rank"]] = max(messages[rank["rank"]], rank["forward"]["messages"])
            self.assertEqual({rank: line[f"ringcheck-verify/forward.messages:{rank}"] for rank in messages}, messages)


class Refusals(unittest.TestCase):
    def refused(self, *words):
        target = pathlib.Path(FOLDER.name, "never")
        done = run(PROGRAM, "report", "render", *words, "-o", target)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertFalse(target.exists())
        return done.stderr

    def test_what_cannot_be_said_is_not_written(self):
        smoke, faults = VERIFY["passed"], RESULTS / "cpu_faults.json"
        self.assertIn("no measurements to write as bencher", self.refused(smoke, "--as", "bencher"))
        self.assertIn("no cases to write as junit", self.refused(MEASURED[0], "--as", "junit"))
        self.assertIn("did you mean 'junit'", self.refused(smoke, "--as", "jnit"))
        self.assertIn("no cases and no measurements", self.refused(faults, "--as", "markdown"))
        self.assertIn("--as is required", self.refused(smoke))

    def test_a_benchmark_that_failed_is_not_left_out(self):
        def fail(data):
            data["bench"] = {"errors": [{"benchmark": "merge", "error": "wrong"}]}
        self.assertIn("'changed_", self.refused(changed(MEASURED[0], fail), "--as", "bencher").replace(
            FOLDER.name + "/", ""))


if __name__ == "__main__":
    unittest.main()
