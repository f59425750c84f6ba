# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""RingCheck: is this context-parallel attention right? See docs/python.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ringcheck.case import Case
from ringcheck.doctor import doctor
from ringcheck.subject import Refused, Result, Subject, subject
from ringcheck.verify import Verdict, verify


def cases(profile: str | None = None, **which: Any) -> Callable:
    """A decorator that makes a pytest test of every case of a subject; see docs/python.md."""
    from ringcheck import pytest_plugin  # needs pytest

    return pytest_plugin.cases(profile, **which)


__all__ = ["Case", "Refused", "Result", "Subject", "Verdict", "cases", "doctor", "subject", "verify"]
