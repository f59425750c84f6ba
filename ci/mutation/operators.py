# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Small wrong edits of C++ source, as text: what a tired author might have written."""
import hashlib
import re
from dataclasses import dataclass

# name: (pattern in a line of code, what stands there instead). The last column of a match that is
# replaced is its group 1, or all of it.
OPERATORS = {
    "relational": [
        (r" (<) ", "<="), (r" (<=) ", "<"), (r" (>) ", ">="), (r" (>=) ", ">"),
        (r" (==) ", "!="), (r" (!=) ", "=="),
        (r"\.(gt)\(", "ge"), (r"\.(eq)\(", "ne"), (r"\.(lt)\(", "le"),
    ],
    "arithmetic": [
        (r" (\+) ", "-"), (r" (-) ", "+"), (r" (\*) ", "/"), (r" (/) ", "*"), (r" (%) ", "*"),
        (r" (\+=) ", "-="), (r" (\*=) ", "/="),
        (r"\.(add_)\(", "sub_"), (r"\.(mul_)\(", "div_"), (r"\.(div_)\(", "mul_"),
    ],
    "logical": [(r" (&&) ", "||"), (r" (\|\|) ", "&&"), (r"(?<=\()(!)(?=\()", "")],
    "constant": [
        (r"(?<![\w.])(0)(?![\w.])", "1"), (r"(?<![\w.])(1)(?![\w.])", "0"),
        (r"(?<![\w.])(2)(?![\w.])", "3"), (r"(?<![\w.])(8)(?![\w.])", "16"),
        (r"(?<![\w.])(6)(?![\w.])", "12"), (r"(?<![\w.])(0\.02)(?![\w.])", "0.16"),
        (r"(?<![\w.])(0\.03)(?![\w.])", "0.3"), (r"(k[A-Z]\w+) = (?=[\d.]+;)", r"\1 = 8 * "),
    ],
    "min and max": [
        (r"std::(max)\(", "min"), (r"std::(min)\(", "max"), (r"\.(clamp_min)\(", "clamp_max"),
        (r"\.(argmax)\(", "argmin"), (r"(?<=[\w)])\.(max)\(\)", "min"),
        (r"\b(any_of)\(", "all_of"), (r"\b(all_of)\(", "any_of"),
    ],
    "sign or size": [(r"(\.abs\(\))", ""), (r"(std::abs)\(", "+"), (r"(\.abs_\(\))", "")],
    "loop bound": [(r"(?<=; )(\w+) < ", r"\1 + 1 < ")],
    "condition": [(r"\bif \((?!const |auto )(.+)\) (?=[\w*].*;$)", "false"),
                  (r"\bif \((?!const |auto )(.+)\) (?=[\w*].*;$)", "true")],
    "statement deleted": [(r"^\s+((?!return|const|auto|using|case|break|throw|double|bool|int)"
                           r"[\w.*>\-\[\]():]+(?: (?:[+*|&-]?=) |\(|_\().*);$", "")],
    "early return": [(r"\breturn ((?!\{\}|(?:std::nullopt|nullptr|false|0);|\w+\(\[).+);$", "{}")],
}


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int  # from 0
    operator: str
    before: str
    after: str

    @property
    def id(self):
        """Stays while the line does, wherever it is."""
        text = "\n".join([self.file, self.operator, self.before.strip(), self.after.strip()])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def balanced(text):
    return all(text.count(a) == text.count(b) for a, b in ("()", "{}", "[]"))


def is_code(line):
    bare = line.strip()
    return bool(bare) and not bare.startswith(("//", "#", "namespace", "using", "template"))


def without_texts(line):
    """The line with blanks for what stands in quotes or a comment, of the same length."""
    blank = lambda m: " " * len(m.group())
    return re.sub(r"//.*$", blank, re.sub(r'"(?:\\.|[^"\\])*"', blank, line))


def edits(line):
    """(operator, line after it) for every place in a line."""
    code = without_texts(line)
    for operator, rows in OPERATORS.items():
        for pattern, instead in rows:
            for match in re.finditer(pattern, code):
                where = 0 if instead.startswith("\\") else 1
                begin, end = match.span(where)
                # What is deleted, or stands in brackets, must be whole.
                if operator in ("condition", "statement deleted", "early return"):
                    if not balanced(code[begin:end]):
                        continue
                new = match.expand(instead) if where == 0 else instead
                after = line[:begin] + new + line[end:]
                if after != line:
                    yield operator, after


def mutants_of(file, text):
    found = {}
    for number, line in enumerate(text.split("\n")):
        if is_code(line):
            for operator, after in edits(line):
                mutant = Mutant(file, number, operator, line, after)
                found.setdefault(mutant.id, mutant)
    return list(found.values())
