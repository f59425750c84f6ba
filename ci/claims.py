#!/usr/bin/env python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Figures on README.md and the pages of docs/ that stem from results, written from the files.

Without an option it fails where a page does not read as the files have it, or quotes a file of sources
that no commit has (-dirty). How a page marks its figures: ci/pages/page.py and parts.py.
"""
import argparse
import difflib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from pages.age import CannotTell, History  # noqa: E402
from pages.page import figures_on, short  # noqa: E402
from pages.parts import (MISSING, NoProgram, quotes_of_parts, with_beginnings, with_console,  # noqa: E402
                         with_outputs, with_sources)

SKIPPED = 77


def parsed(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", type=pathlib.Path, help="of the checkout; default: this one",
                        default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--program", help="ringcheck, which writes consoles and the page of detection;"
                        " default: build/release/bin/ringcheck")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true", help="write the pages")
    what.add_argument("--age", action="store_true", help="fails where a figure that is older than the"
                      " code that it measures is not marked `measured at COMMIT`; 77: cannot tell")
    what.add_argument("--stale", action="store_true", help="lists results that are older than the code"
                      " that they measure, and those that no page quotes")
    options = parser.parse_args(arguments)
    options.program = options.program or str(options.root / "build/release/bin/ringcheck")
    return options


def pages(root):
    """Those that may quote results, what others take parts of first."""
    return [*sorted((root / "docs").glob("*.md")), root / "README.md"]


def quotes(root):
    """All that pages quote, and what is wrong on them."""
    everything, wrong = [], []
    for page in pages(root):
        name, text = str(page.relative_to(root)), page.read_text()
        found = figures_on(name, text, page.parent)
        everything += found.quotes + quotes_of_parts(name, text, root)
        wrong += found.wrong
    return everything, wrong


def write(options):
    """Each page as the files have it."""
    for page in pages(options.root):
        text = page.read_text()
        true = true_text(page, text, options)
        if true != text:
            page.write_text(true)
            print(f"claims: {page.relative_to(options.root)} written")
    return 0


def true_text(page, text, options):
    text = with_outputs(with_sources(text, options.root, options.program), options.program)
    text = with_beginnings(with_console(text, options.root, options.program), options.root)
    return figures_on(page.name, text, page.parent).text


def check(options):
    """Exit code 1 where text and file differ, or a file is of no commit."""
    everything, wrong = quotes(options.root)
    for page in pages(options.root):
        name, text = str(page.relative_to(options.root)), page.read_text()
        true = true_text(page, text, options)
        difference = difflib.unified_diff(text.splitlines(), true.splitlines(),
                                          name, "as the files have it", lineterm="", n=0)
        wrong += ["\n".join(difference)]
        if MISSING in true:
            wrong.append(f"{name}: its console has a line that the run does not have: {MISSING} stands there")
    for quote in everything:
        for commit in quote.commits:
            if "-dirty" in (commit or ""):
                wrong.append(f"{quote.page} quotes {quote.text!r} of {names_of(quote)}, built from files"
                             f" that no commit has: {commit}; measure it at a commit")
    return told(wrong, f"claims: {len(everything)} figures on {len(pages(options.root))} pages are those"
                " of their files", "ci/claims.py --write writes the figures")


def check_age(options):
    """Exit code 1 where an old figure is not marked."""
    bare = [quote for quote in quotes(options.root)[0] if not quote.marked]
    try:
        history = History(options.root) if bare else None
    except CannotTell as reason:
        print(f"claims: cannot tell the age of {len(bare)} figures that are not marked: {reason}")
        return SKIPPED
    wrong = [f"{quote.page}: {quote.text!r} of {names_of(quote)} is old: {why}; write `measured at"
             f" {short(commit)}` before it, or measure again"
             for quote in bare for commit in quote.commits
             if (why := next(filter(None, (history.changed_since(commit, file)
                                           for file in quote.files)), None))]
    return told(wrong, f"claims: every old figure is marked; {len(bare)} without a mark are not old")


def names_of(quote):
    return ", ".join(path.name for path in quote.files)


def told(wrong, right, advice=None):
    """Prints what is wrong, or that all is right; the exit code."""
    wrong = [text for text in wrong if text]
    for text in wrong:
        print(text, file=sys.stderr)
    if wrong and advice:
        print(advice, file=sys.stderr)
    if not wrong:
        print(right)
    return bool(wrong)


def list_stale(options):
    """The results that are old, and those that nothing quotes."""
    commits = {}
    for quote in quotes(options.root)[0]:
        for file in quote.files:
            commits.setdefault(file.resolve(), set()).update(quote.commits)
    history = History(options.root)
    for file in sorted(commits):
        for commit in commits[file]:
            if why := history.changed_since(commit, file):
                print(f"stale   {file.name} at {short(commit)}: {why}")
    for file in sorted((options.root / "reports/results").resolve().glob("*")):
        if file not in commits:
            print(f"unused  {file.name}: no page quotes it")
    return 0


def main(arguments):
    options = parsed(arguments)
    run = (write if options.write else check_age if options.age
           else list_stale if options.stale else check)
    try:
        return run(options)
    except (NoProgram, CannotTell, OSError) as error:
        print(f"claims: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
