#!/usr/bin/env python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""page.py PAGE FOLDER   writes what a reader of a page would copy: the block of code behind <!--file NAME-->
into FOLDER/NAME, and that behind <!--run--> into FOLDER/run.sh, which stops where a line fails."""

import pathlib
import re
import sys

page, folder = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
blocks = re.findall(r"^<!--(file (\S+)|run)-->\n```\w*\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
names = [name or "run.sh" for _, name, _ in blocks]
wanted = len(re.findall(r"^<!--(?:file|run)", page, re.MULTILINE))
if len(blocks) != wanted or names.count("run.sh") != 1 or len(names) < 3:
    sys.exit(f"{sys.argv[1]}: {wanted} marks, but blocks of {names}")
folder.mkdir(parents=True)
for _, name, text in blocks:
    (folder / (name or "run.sh")).write_text(text if name else "set -eux\n" + text)
# Every program is run, and every file built.
for name in names:
    if name.endswith(".cpp") and f"build/{name[:-4]}" not in (folder / "run.sh").read_text():
        sys.exit(f"{sys.argv[1]}: {name} is not run")
