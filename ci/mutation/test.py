# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""The operators find what they should, the order rotates, and a source is as before, whatever happens."""
import argparse
import json
import os
import pathlib
import tempfile
import threading
import time
import unittest
from unittest import mock

import run
from operators import mutants_of


def edited(line):
    return {(m.operator, m.after.strip()) for m in mutants_of("a.cpp", line)}


class Operators(unittest.TestCase):
    def test_every_operator_has_its_edit(self):
        for line, operator, after in [
            ("  if (a <= b) return c;", "relational", "if (a < b) return c;"),
            ("  if (a <= b) return c;", "condition", "if (false) return c;"),
            ("  if (a <= b) return c;", "early return", "if (a <= b) return {};"),
            ("  x = a + b;", "arithmetic", "x = a - b;"),
            ("  x = a && b;", "logical", "x = a || b;"),
            ("constexpr double kStat = 8;", "constant", "constexpr double kStat = 16;"),
            ("  x = std::max(a, b);", "min and max", "x = std::min(a, b);"),
            ("  x = y.abs();", "sign or size", "x = y;"),
            ("  for (int i = 0; i < n; ++i) {", "loop bound", "for (int i = 0; i + 1 < n; ++i) {"),
            ("  max_z = other.max_z;", "statement deleted", ";"),
        ]:
            self.assertIn((operator, after), edited(line), line)

    def test_texts_comments_and_declarations_stay(self):
        for line in ['  say("a < b");', "  // a + b", "#include <a>", "  auto x = f();"]:
            self.assertFalse({o for o, _ in edited(line)} - {"statement deleted"}, line)
        self.assertEqual(edited("  const at::Tensor x;"), set())
        self.assertNotIn(("early return", "return {};"), edited("  return std::nullopt;"))

    def test_a_mutant_is_known_again_on_another_line(self):
        one, = [m for m in mutants_of("a.cpp", "  x += y;") if m.operator == "arithmetic"]
        other, = [m for m in mutants_of("a.cpp", "\n\n    x += y;") if m.operator == "arithmetic"]
        self.assertEqual(one.id, other.id)
        self.assertNotEqual(one.line, other.line)


class Shards(unittest.TestCase):
    def test_shards_are_named_from_1(self):
        self.assertEqual(run.shard("3/8"), (3, 8))
        for text in ["0/8", "9/8", "3", "a/8", "3/", "-1/8"]:
            with self.assertRaises(argparse.ArgumentTypeError, msg=text):
                run.shard(text)

    def test_a_newer_result_keeps_the_explanation(self):
        known = {"a": {"result": "survived", "why": "equal"}, "b": {"result": "killed", "why": None}}
        run.add(known, {"a": {"result": "killed", "why": None}, "c": {"result": "killed", "why": None}})
        self.assertEqual(known["a"], {"result": "killed", "why": "equal"})
        self.assertEqual(sorted(known), ["a", "b", "c"])


    def test_what_a_shard_did_not_ask_replaces_nothing(self):
        before = {"a": {"line": 1, "result": "survived"}, "b": {"line": 2, "result": "survived"}}
        lists = [{"a": {"line": 1, "result": "killed"}, "b": {"line": 3, "result": "survived"}},
                 {"a": {"line": 4, "result": "survived"}, "b": {"line": 2, "result": "killed"}, "c": {"line": 5, "result": "killed"}}]
        self.assertEqual([sorted(run.news(before, rows)) for rows in lists], [["a"], ["b", "c"]])

    def test_a_line_that_is_gone_is_forgotten_and_one_that_moved_is_where_it_is(self):
        stays, = [m for m in mutants_of("a.cpp", "  x += y;") if m.operator == "arithmetic"]
        moved = mutants_of("a.cpp", "\n\n  x += y;")
        known = {stays.id: {"line": 1, "why": "equal"}, "gone": {"line": 2, "why": None}}
        self.assertEqual(run.of_today(known, moved), {stays.id: {"line": 3, "why": "equal"}})


class Survivors(unittest.TestCase):
    def test_each_that_is_committed_has_its_reason(self):
        committed = json.loads((pathlib.Path(__file__).parents[2] / "reports/mutants.json").read_text(encoding="utf-8"))
        alive = [mutant for mutant in committed["mutants"] if mutant["result"] not in ("killed", "does not compile")]
        self.assertTrue(alive)
        self.assertEqual([mutant["id"] for mutant in alive if not mutant["why"]], [])


class Runner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = run.Tree(folder.name, "release")
        os.makedirs(self.tree.path("parity/judge"))
        self.text = "double f(double a) {\n  return a + 1;\n}\n"
        with open(self.tree.path("parity/judge/a.cpp"), "w", encoding="utf-8") as stream:
            stream.write(self.text)

    def source(self):
        with open(self.tree.path("parity/judge/a.cpp"), encoding="utf-8") as stream:
            return stream.read()

    def test_the_edit_is_there_while_it_is_judged_and_gone_after(self):
        mutants = self.tree.all_mutants("")
        self.assertGreater(len(mutants), 2)
        for mutant in mutants:
            seen = []
            for said in (None, "smoke", RuntimeError):
                asked = mock.Mock(side_effect=lambda *_: seen.append(self.source()) or said)
                if said is RuntimeError:
                    asked = mock.Mock(side_effect=RuntimeError)
                with mock.patch.object(run, "killer", asked), \
                        mock.patch.object(run.Tree, "builds", return_value=True):
                    if said is RuntimeError:
                        self.assertRaises(RuntimeError, run.judged, self.tree, mutant)
                    else:
                        wanted = ("killed" if said else "survived", said)
                        self.assertEqual(run.judged(self.tree, mutant), wanted)
                self.assertEqual(self.source(), self.text)
            self.assertTrue(all(mutant.after in text and text != self.text for text in seen))

    def test_new_ones_first_and_each_seed_its_order(self):
        many = mutants_of("a.cpp", "\n".join(f"  x{i} = a + {i};" for i in range(3, 40)))
        known = {m.id: {"result": "killed"} for m in many[:9]} | {many[9].id: {"result": "survived"}}
        first, again, other = (run.in_turn(list(many), known, seed) for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        self.assertFalse({m.id for m in first[:-10]} & set(known))
        self.assertEqual(first[-10].id, many[9].id)

    def test_who_notices_first(self):
        tiny, smoke = ("ringcheck", tuple(run.TINY)), ("ringcheck", tuple(run.SMOKE))
        for failing, code, by in [(tiny, 70, "self-test"), (tiny, 1, "smoke"), (smoke, 5, "smoke"),
                                  (("two", ()), 1, "two"), (None, 0, None)]:
            def program(name, words=(), ended=None, failing=failing, code=code):
                return code if (name, tuple(words)) == failing else 0
            with mock.patch.object(run.Tree, "program", side_effect=program):
                self.assertEqual(run.killer(self.tree, ["one", "two", "three"]), by)

    def test_who_failed_once_is_not_waited_for(self):
        begin = time.time()
        for says, ended, code in [("echo; echo 'fail  a case'; sleep 60", False, 1), ("sleep 60", True, 0),
                                  ("echo failing", False, 0), ("exit 3", False, 3), ("sleep 60", False, 124)]:
            event = threading.Event()
            if ended:
                event.set()
            self.assertEqual(self.tree.run(["sh", "-c", says], 0.5 if code == 124 else 30, event), code, says)
        self.assertLess(time.time() - begin, 20)

    def test_what_is_asked_is_built_and_exists(self):
        self.assertEqual(run.targets()[:2], ["ringcheck_core", "ringcheck_command"])
        tests = {path.stem for path in pathlib.Path(run.HERE, "property_tests").rglob("*.cpp")}
        self.assertEqual(set(run.targets()[2:]) - tests, set())

    def test_the_tests_of_the_smallest_area_first(self):
        areas = {"a": ["x", "y"], "a/b": ["z", "x"]}
        with mock.patch.object(run, "AREAS", areas):
            self.assertEqual(run.tests_of("a/b/file.cpp"), ["z", "x", "y"])
            self.assertEqual(run.tests_of("a/bc.cpp"), ["x", "y"])
            self.assertEqual(run.tests_of("c.cpp"), [])

    def test_who_has_noticed_edits_of_a_file_before_the_others(self):
        rows = [{"file": "a/b.cpp", "by": by} for by in ("y", "z", "z", "smoke", None)] + [{"file": "a/c.cpp", "by": "x"}]
        with mock.patch.object(run, "AREAS", {"a": ["x", "y", "z"]}):
            self.assertEqual(run.tests_of("a/b.cpp", rows), ["z", "y", "x"])

    def test_then_who_takes_little_time(self):
        with mock.patch.object(run, "AREAS", {"a": ["w", "x", "y", "z"]}):
            self.assertEqual(run.tests_of("a/b.cpp", [{"file": "a/b.cpp", "by": "z"}], {"w": 3, "x": 2, "y": 1, "z": 9}),
                             ["z", "y", "x", "w"])

    def test_only_who_ended_by_itself_and_noticed_nothing_has_its_time_taken(self):
        ended = threading.Event()
        ended.set()
        for code, event in [(0, threading.Event()), (1, threading.Event()), (0, ended)]:
            with mock.patch.object(run.Tree, "run", return_value=code):
                self.tree.program(f"test_{code}_{event.is_set()}", ended=event)
        self.assertEqual(list(self.tree.seconds), ["test_0_False"])


if __name__ == "__main__":
    unittest.main()
