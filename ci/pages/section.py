# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""The section of a page that a command of ci/ writes from committed results."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
END = "<!--end-->"


def write_section(command, page, text, words, usage):
    """Writes `text` between the marks of `command` on a page of ROOT; of words == ["--check"], says whether
    it stands there. Exits with `usage` at other words, and where the page has no marks or another text."""
    if words not in ([], ["--check"]):
        sys.exit(usage)
    place, beginning = ROOT / page, f"<!--beginning of what {command} writes-->\n"
    old = place.read_text()
    before, _, rest = old.partition(beginning)
    _, end, after = rest.partition(END)
    if not end:
        sys.exit(f"{command}: {page} has no place for the tables: {beginning.strip()} ... {END}")
    new = before + beginning + text + END + after
    if not words:
        place.write_text(new)
    elif new != old:
        sys.exit(f"{command}: {page} differs from its results; run {command}")
