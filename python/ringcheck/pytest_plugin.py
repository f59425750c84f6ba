# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""``@ringcheck.cases``: the cases of a subject as tests of pytest, one a case.

The cases that are selected are judged in one run, when the first of them is asked for; under pytest-xdist by
whichever worker comes first, while the others wait for its result.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from ringcheck import load, program
from ringcheck.order import check_names, order, without_choice
from ringcheck.subject import Refused, Subject, subject
from ringcheck.verify import Result, verify


class Group:
    """The tests of one decorated function."""

    def __init__(self, judged: Subject, profile: str | None, which: dict[str, Any]) -> None:
        check_names("cases", which)
        self._judged = judged
        self._how = {name: which[name] for name in ("oracles", "deadline", "jobs") if name in which}
        self._how["options"] = without_choice(which.get("options", ()))
        self._order = order(judged, profile=profile, **which)
        self.selected: list[str] = []
        self._result: Result | None = None

    def texts(self) -> list[str]:
        """Of all cases; none where the program refuses to list them, which is then an error of pytest."""
        listed = subprocess.run([*program.command(), *self._order.words, "--list"], env=self._order.variables,
                                capture_output=True, text=True, check=False)
        if listed.returncode != 0:
            raise Refused(listed.stderr.strip() or f"ringcheck ended with exit code {listed.returncode}")
        return listed.stdout.splitlines()

    def result(self, folder: pathlib.Path) -> Result:
        if self._result is None:
            key = hashlib.sha256(json.dumps([self._order.words, self._order.only, self.selected]).encode()).hexdigest()[:16]
            file, code, lock = (folder / f"ringcheck-{key}.{what}" for what in ("json", "code", "lock"))
            with open(lock, "w", encoding="utf-8") as held:
                fcntl.flock(held, fcntl.LOCK_EX)
                if code.exists():
                    self._result = Result(int(code.read_text(encoding="utf-8")), _kept(file))
                else:
                    self._result = verify(self._judged, cases=self.selected, json_file=file, **self._how)
                    code.write_text(str(self._result.exit_code), encoding="utf-8")
        return self._result


def _kept(file: pathlib.Path) -> dict:
    """Empty where the run has ended without a result file."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def cases(profile: str | None = None, **which: Any) -> Callable:
    """Makes a test a case of a subject. profile, which: as for `ringcheck.verify`."""

    def declare(function: Callable | Subject) -> Callable:
        judged = function if isinstance(function, Subject) else subject(function)
        if load.is_rank:
            return judged
        group = Group(judged, profile, which)
        texts = group.texts()

        @pytest.mark.ringcheck(group)
        @pytest.mark.parametrize("case", texts, ids=[text.split("]/", 1)[-1] for text in texts])
        def test(case: str, tmp_path_factory: pytest.TempPathFactory) -> None:
            folder = tmp_path_factory.getbasetemp()
            result = group.result(folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder)
            found = [one for one in result.verdicts if one.case == case]
            if not found:
                pytest.fail(f"ringcheck ended with exit code {result.exit_code} before this case", pytrace=False)
            if found[0].verdict == "not_supported":
                pytest.skip(found[0].reason)
            if found[0].verdict != "pass":
                pytest.fail(str(found[0]), pytrace=False)

        test.__name__ = test.__qualname__ = judged.name
        test.__module__ = judged.function.__module__
        return test

    return declare


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "ringcheck(group): a case of a subject, judged with the others of its group")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        marker = item.get_closest_marker("ringcheck")
        if marker is not None:
            marker.args[0].selected.append(item.callspec.params["case"])  # type: ignore[attr-defined]
