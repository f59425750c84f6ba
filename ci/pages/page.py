# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""The figures on a page: links whose text is written from a file.

    measured at 41d1128, the smoke profile ([413 of 413 in 36 s][smoke])

    [smoke]: reports/results/h200_gpu1_smoke.summary.json "{passed} of {cases} in {seconds:.0f} s"

The definition links the figure to its file; its title is the template (figures.py). A folder for a file
takes those that match what stands before the template: reports/results "h200_gpu1_clean_*: {passed}".
`measured at COMMIT`, or several (`A, B and C`), holds for the figures behind it in its paragraph or
item, up to the next mark.
"""
import re
from dataclasses import dataclass, field

from pages.figures import BadFigure, filled

LINK = re.compile(r"\[([^\[\]]+)\]\[([\w.-]+)\]")
DEFINITION = re.compile(r'^\[([\w.-]+)\]: (\S+) "(?:([\w.*-]+\*[\w.*-]*): )?(.*\{.*)"$', re.M)
COMMIT = r"(?:[0-9a-f]{7,40}\b|an\s+unrecorded\s+commit)"
MARK = re.compile(rf"([Mm]easured\s+at\s+)({COMMIT}(?:(?:,|\s+and)\s+{COMMIT})*)")
BLOCK = re.compile(r"(?:^[ \t]*\n)+|^(?=\s*(?:[-*]|\d+\.) )", re.M)
SCORE = re.compile(r"\b\d+ of (?:the )?\d+\b")
BEGINNING = re.compile(r"(<!--beginning of (\S+)-->\n)(.*?\n)(?=\n)", re.S)
UNRECORDED = "an unrecorded commit"


@dataclass
class Quote:
    """Files that a page quotes, their commits (None among them: one says none), marked or not."""
    page: str
    files: list
    commits: set
    text: str
    marked: bool


@dataclass
class Figures:
    """A page as it must read, what it quotes, and what is wrong that cannot be written."""
    text: str = ""
    quotes: list = field(default_factory=list)
    wrong: list = field(default_factory=list)


def short(commit):
    return commit[:7] if commit else UNRECORDED


def files_of(folder, address, pattern):
    """Those of a definition, in order of their names; throws BadFigure where there are none."""
    place = folder / address
    files = sorted(place.glob(pattern)) if pattern else [place] * place.is_file()
    if not files:
        raise BadFigure(f"there is no {address}{'/' + pattern if pattern else ''}")
    return files


class Block:
    """A paragraph or item of a page."""

    def __init__(self, page, claims, found):
        self.page, self.claims, self.found = page, claims, found

    def written(self, text):
        """The block, each figure and mark as the files have it."""
        marks = list(MARK.finditer(text))
        ends = [mark.start() for mark in marks] + [len(text)]
        parts = [self.under_mark(None, text[:ends[0]])]
        parts += [self.under_mark(mark, text[mark.end():end]) for mark, end in zip(marks, ends[1:])]
        return "".join(parts)

    def under_mark(self, mark, text):
        """What follows a mark up to the next one; with the mark."""
        quotes = []
        text = LINK.sub(lambda link: self.figure(link, quotes), text)
        for quote in quotes:
            quote.marked = mark is not None
        self.found.quotes += quotes
        return (self.mark(mark, {c for quote in quotes for c in quote.commits}) if mark else "") + text

    def mark(self, mark, commits):
        """The mark as the commits of its figures have it."""
        held = {re.sub(r"\s+", " ", text) for text in re.findall(COMMIT, mark[2])}
        same = len(held) == len(commits) and all(
            any((commit or UNRECORDED).startswith(text) for text in held) for commit in commits)
        if same or not commits:
            return mark[0]
        *first, last = sorted(map(short, commits))
        return mark[1] + (f"{', '.join(first)} and {last}" if first else last)

    def figure(self, link, quotes):
        """A link as it must read; of a figure, its quote is noted."""
        text, label = link[1], link[2]
        if label not in self.claims:
            return link[0]
        files, template = self.claims[label]
        try:
            true, commits = filled(template, files)
        except BadFigure as error:
            self.found.wrong.append(f"{self.page}: [{label}]: {error}")
            return link[0]
        quotes.append(Quote(self.page, files, commits, true, False))
        return link[0] if text.split() == true.split() else f"[{true}][{label}]"


def claims_in(name, text, folder, found):
    """By label: files and template."""
    claims = {}
    for label, address, pattern, template in DEFINITION.findall(text):
        if label in claims:
            found.wrong.append(f"{name}: [{label}] is defined twice")
        try:
            claims[label] = files_of(folder, address, pattern), template
        except BadFigure as error:
            found.wrong.append(f"{name}: [{label}]: {error}")
    used = {label for _, label in LINK.findall(text)}
    defined = {label for label, *_ in DEFINITION.findall(text)}
    plain = set(re.findall(r"^\[([\w.-]+)\]: ", text, re.M))
    for label in sorted(defined - used):
        found.wrong.append(f"{name}: no figure uses [{label}]")
    for label in sorted(used - plain):
        found.wrong.append(f"{name}: [{label}] is not defined")
    return claims


def bare_scores(text):
    """Scores that are no figure of a file, on a page that has figures."""
    return SCORE.findall(LINK.sub("", BEGINNING.sub("", text))) if DEFINITION.search(text) else []


def figures_on(name, text, folder):
    """A page whose links start at a folder."""
    found = Figures()
    block = Block(name, claims_in(name, text, folder, found), found)
    found.wrong += [f"{name}: '{score}' is the figure of no file; write [{score}][LABEL] and define LABEL"
                    for score in bare_scores(text)]
    begin = 0
    for border in [*BLOCK.finditer(text), None]:
        end = border.start() if border else len(text)
        found.text += block.written(text[begin:end])
        if border:
            found.text += border[0]
            begin = border.end()
    return found
