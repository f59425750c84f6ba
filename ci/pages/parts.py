# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of a page that are text of something else.

`<!--output-->` before a block of code: the whole of what its first line, `$ ringcheck ...`, prints.
`<!--console of FILE-->` before a block of code: lines of what `ringcheck report FILE` prints; the block
says which, by their first words, with `...` for those left out. `<!--beginning of PAGE-->` before a
paragraph: the first one of that page. And the table `figures from` of a page that a command writes.
"""
import json
import re
import shlex
import subprocess

from pages.figures import commit_in
from pages.page import BEGINNING, Quote

RESULTS = "reports/results"
CONSOLE = re.compile(r"(<!--console of (\S+)-->\n```\n)(.*?)(?=^```$)", re.M | re.S)
OUTPUT = re.compile(r"(<!--output-->\n```\n\$ ringcheck ([^\n]+)\n)(.*?)(?=^```$)", re.M | re.S)
ROW = re.compile(r"  (\S.*?)(?: +(?:-|<?[\d.]+(?:e[+-]\d+)?))+")
SOURCE = re.compile(r"^\| `([\w.-]+\.json)` \| `([^|]*)` \| (\S+) \|", re.M)

MISSING = "(no such line)"


class NoProgram(Exception):
    """There is no program to ask, or it failed."""


def printed_by(program, *arguments):
    """Its standard output; throws NoProgram."""
    try:
        run = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoProgram(f"cannot run {program}: {error.strerror}; --program names ringcheck") from error
    if run.returncode:
        raise NoProgram(f"{program} {' '.join(arguments)}: exit code {run.returncode}: {run.stderr}")
    return run.stdout


def first_words(line):
    """By which a line of the console is known: the columns of a row's names, or a word and whether
    it begins the line; of a rule its sign. Empty for one without words."""
    if line.strip() and not line.strip(" -"):
        return "-"
    if row := ROW.fullmatch(line):
        return " ".join(row[1].split())
    word = re.search(r"[A-Za-z-]{2,}", line)
    return f"{line[:1].strip() and '>'}{word[0]}" if word else ""


def lines_of(block, report):
    """The block with the lines that the report has in the places of its own."""
    fresh = {first_words(line): line for line in reversed(report.splitlines())}
    return "".join((line if line.startswith("$ ") or not first_words(line)
                    else fresh.get(first_words(line), MISSING)) + "\n"
                   for line in block.splitlines())


def with_console(text, root, program):
    """The page with each console as the program prints it."""
    def written(block):
        return block[1] + lines_of(block[3], printed_by(program, "report", str(root / block[2])))
    return CONSOLE.sub(written, text)


def with_outputs(text, program):
    """The page with each command as the program answers it."""
    return OUTPUT.sub(lambda block: block[1] + printed_by(program, *shlex.split(block[2])), text)


def with_beginnings(text, root):
    """The page with each paragraph as the other page has it."""
    def written(paragraph):
        page = (root / paragraph[2]).read_text()
        true = page.split("\n\n")[1] + "\n"
        return paragraph[1] + (paragraph[3] if paragraph[3].split() == true.split() else true)
    return BEGINNING.sub(written, text)


def sources_of(text):
    """By name, the commit of each file in the table of a page that a command writes."""
    return {name: commit for name, _, commit in SOURCE.findall(text)}


def is_of_a_profile(result):
    """Whether it says which planted bugs the cases of a profile see."""
    return bool(result.get("faults", {}).get("profile"))


def with_sources(text, root, program):
    """A page with such a table as `ringcheck detection` writes it from the same files."""
    files = [root / RESULTS / name for name in sources_of(text)]
    profiles = [file for file in files if is_of_a_profile(json.loads(file.read_text()))]
    words = [str(file) for file in files if file not in profiles]
    for file in profiles:
        words += ["--profile", str(file)]
    return printed_by(program, "detection", *words) if files else text


def quotes_of_parts(name, text, root):
    """What consoles and tables quote; both say the commit."""
    paths = [root / path for _, path, _ in CONSOLE.findall(text)]
    paths += [root / RESULTS / file for file in sources_of(text)]
    return [Quote(name, [path], {commit_in(json.loads(path.read_text()))}, path.name, True)
            for path in paths]
