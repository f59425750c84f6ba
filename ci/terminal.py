#!/usr/bin/env python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""The sessions of docs/terminal.md, as the program has them on a terminal of 80 columns.

Each stands in a block of code behind `<!--session-->`, or `<!--session interrupted at TEXT-->` where
Ctrl-C is pressed when TEXT appears; it begins with the command, and says the exit code where it is not
0. Without --write it fails where a session is not what the program shows now: all but times, the
figures that depend on the processor, the machine and the versions.
"""
import argparse
import difflib
import os
import pathlib
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from pages.terminal import left_on, on_terminal  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
SESSION = re.compile(r"(<!--session(?: interrupted at ([^>]+))?-->\n```\n)\$ ([^\n]+)\n(.*?)(?=^```$)",
                     re.M | re.S)
VARIABLE = ((re.compile(r"^  (commit|host|libraries) .*$", re.M), r"  \1"),
            (re.compile(r"<?-?\b(\d+\.\d+(e[+-]\d+)?|\d+e[+-]\d+)\b"), "X"),
            (re.compile(r"\b(\d+|X) (s|ms|min|h)\b"), r"T \2"),
            (re.compile(r"-{3,}"), "---"))


def shown(session, program):
    """What the program shows after the command."""
    words = shlex.split(session[3])
    path = f"{program.parent}:{os.environ['PATH']}"
    written, code = on_terminal(words, {"PATH": path}, session[2])
    return left_on(written) + (f"(exit code {code})\n" if code else "")


def constant(text):
    """The words that do not depend on when and where it ran."""
    for pattern, instead in VARIABLE:
        text = pattern.sub(instead, text)
    return text.split()


def differences(session, fresh):
    """How a session differs from what is shown now, as text; empty where it does not."""
    if constant(session[4]) == constant(fresh):
        return ""
    lines = difflib.unified_diff(session[4].splitlines(), fresh.splitlines(), f"$ {session[3]}", "now",
                                 lineterm="")
    return "\n".join(lines)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/terminal.md")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/ringcheck")
    parser.add_argument("--write", action="store_true", help="write the page")
    options = parser.parse_args(arguments)
    text = options.page.read_text()
    if options.write:
        options.page.write_text(SESSION.sub(
            lambda s: f"{s[1]}$ {s[3]}\n{shown(s, options.program)}", text))
        return 0
    sessions = list(SESSION.finditer(text))
    wrong = [told for s in sessions if (told := differences(s, shown(s, options.program)))]
    print("\n".join(wrong) or f"terminal: {len(sessions)} sessions are what the program shows")
    if wrong:
        print("ci/terminal.py --write writes them", file=sys.stderr)
    return bool(wrong) or not sessions


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
