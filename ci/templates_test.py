#!/usr/bin/python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ci/templates_test.py   the templates of CI systems: workflows, action and pipeline by their published schemas
(check-jsonschema), their commands and those of batch jobs and containers by shellcheck and hadolint. All of them
call ci/gate.sh, with options that it has."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = pathlib.Path(os.environ.get("RINGCHECK_TOOLS", "/nowhere"), "bin")  # ci/environment.sh
TEMPLATES = ROOT / "ci/templates"
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
SCHEMAS = {ROOT / "action.yml": "github-actions", TEMPLATES / "gitlab.yml": "gitlab-ci"} | {
    path: "github-workflows" for path in WORKFLOWS}
CONTAINER, DEFINITION, BATCH = TEMPLATES / "Containerfile", TEMPLATES / "apptainer.def", TEMPLATES / "gate.slurm"


def run(*words, **options):
    return subprocess.run([str(word) for word in words], text=True, check=False, capture_output=True, **options)


def parsed(path):
    code = "import json, sys; from ruamel.yaml import YAML; json.dump(YAML(typ='safe').load(open(sys.argv[1])), sys.stdout)"
    done = run(TOOLS / "python3", "-c", code, path)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def by_schema(text, schema):
    """A hidden job of a pipeline is none to its schema: it is asked of one that shows."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "template.yml")
        path.write_text(text.replace("\n.ringcheck-gate:", "\nringcheck-gate:"))
        return run(TOOLS / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", path)


def of_action():
    return [step["run"] for step in parsed(ROOT / "action.yml")["runs"]["steps"] if "run" in step]


def of_workflow(path):
    return [step["run"] for job in parsed(path)["jobs"].values() for step in job["steps"] if "run" in step]


def of_pipeline():
    return ["\n".join(job["script"]) for job in parsed(TEMPLATES / "gitlab.yml").values() if "script" in job]


def of_definition():
    parts = re.split(r"^%(\w+).*\n", DEFINITION.read_text(), flags=re.M)
    return [text for name, text in zip(parts[1::2], parts[2::2]) if name in ("environment", "post", "runscript")]


def scripts():
    """Each with the shell that runs it."""
    yield "bash", BATCH.read_text()
    for text in [*of_action(), *of_pipeline(), *(text for path in WORKFLOWS for text in of_workflow(path))]:
        yield "bash", text
    for text in of_definition():
        yield "sh", text


class Templates(unittest.TestCase):
    def test_schemas_are_obeyed(self):
        for path, schema in SCHEMAS.items():
            done = by_schema(path.read_text(), schema)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_schemas_are_asked(self):
        for path, schema in SCHEMAS.items():
            right, broken = {"github-actions": ("\nruns:", "\nrun:"), "github-workflows": ("\njobs:", "\njob:"),
                             "gitlab-ci": ("    when: always", "    when: sometimes")}[schema]
            self.assertIn(right, path.read_text())
            self.assertNotEqual(by_schema(path.read_text().replace(right, broken), schema).returncode, 0, path)

    def test_shellcheck_finds_nothing(self):
        self.assertGreaterEqual(len(list(scripts())), 10)
        for shell, text in scripts():
            done = run("shellcheck", "--shell", shell, "-", input=text)
            self.assertEqual(done.returncode, 0, text + done.stdout)

    def test_hadolint_finds_nothing(self):
        done = run(TOOLS / "hadolint", CONTAINER)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = run(TOOLS / "hadolint", "-", input="FROM debian\nRUN cd /tmp && sudo ls\n")
        self.assertNotEqual(done.returncode, 0)

    def test_the_gate_is_called_with_options_that_it_has(self):
        known = set(re.findall(r"--\w+", run(ROOT / "ci/gate.sh", "--help").stdout))
        for path in (ROOT / "action.yml", TEMPLATES / "gitlab.yml", BATCH, CONTAINER, DEFINITION):
            calls = [line for line in path.read_text().splitlines() if "ci/gate.sh" in line and "#" not in line]
            self.assertEqual(len(calls), 1, path)
            self.assertLessEqual(set(re.findall(r"--\w+", calls[0])), known, path)

    def test_the_own_workflow_uses_the_action(self):
        uses = [step.get("uses") for job in parsed(ROOT / ".github/workflows/gate.yml")["jobs"].values()
                for step in job["steps"]]
        self.assertEqual(uses.count("./"), 2)

    def test_expressions_stay_out_of_commands(self):
        """What a pull request can name must not become part of a script."""
        for _, text in scripts():
            self.assertNotIn("${{", text)

    def test_inputs_of_the_action_reach_the_gate(self):
        action = parsed(ROOT / "action.yml")
        step = next(step for step in action["runs"]["steps"] if step.get("id") == "gate")
        self.assertEqual({f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}, set(step["env"].values()))
        for name in step["env"]:
            self.assertIn(f'"${name}"', step["run"])

    def test_the_page_has_a_workflow_that_works(self):
        text = re.search(r"^```yaml\n(.*?)^```", (ROOT / "docs/ci.md").read_text(), flags=re.M | re.S)[1]
        done = by_schema(text, "github-workflows")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("ringcheck@main\n        with: {verify: ./verify.sh, bench: ./bench.sh}\n", text)
        self.assertLessEqual({"verify", "bench"}, set(parsed(ROOT / "action.yml")["inputs"]))

    def test_the_action_hands_on_code_and_summary(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "ci").mkdir()
            gate = folder / "ci/gate.sh"
            gate.write_text('#!/bin/sh\nmkdir -p gate && echo said "$@" >gate/summary.md && exit 3\n')
            gate.chmod(0o755)
            variables = {"GITHUB_ACTION_PATH": name, "RUNNER_TEMP": name, "GITHUB_OUTPUT": f"{name}/output",
                         "GITHUB_STEP_SUMMARY": f"{name}/page", "BASE": "main", "REPOSITORY": ".", "BUILD": "", "VERIFY": "a b",
                         "BENCH": "", "ROUNDS": "12", "MARGIN": "0.02", "WAIVERS": ""}
            done = run("bash", "-e", "-c", of_action()[1], cwd=folder, env=os.environ | variables)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertEqual((folder / "output").read_text(), "exit-code=3\n")
            self.assertTrue((folder / "page").read_text().startswith("said main --repository . "))


if __name__ == "__main__":
    unittest.main()
