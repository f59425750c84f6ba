#!/usr/bin/env python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""python/tests/run.py [arguments of pytest]   the tests of the Python package, by the Python that runs this;
RINGCHECK_PROGRAM names the program where it is not that of build/release. Compiled Python is kept where
PYTHONPYCACHEPREFIX says, and nowhere else: importing torch takes half as long with it."""

import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PATHS = [str(HERE.parent), str(HERE)]

sys.path[:0] = PATHS
sys.dont_write_bytecode = "PYTHONPYCACHEPREFIX" not in os.environ
os.environ |= {"PYTHONDONTWRITEBYTECODE": "1" if sys.dont_write_bytecode else "",
               "PYTHONPATH": os.pathsep.join([*PATHS, *filter(None, [os.environ.get("PYTHONPATH")])])}
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *(sys.argv[1:] or [str(HERE)])]))
