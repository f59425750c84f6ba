# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What a template such as "{passed} of {cases} in {seconds:.0f} s" says of result files.

A field names a member of the file: {summary.passed}, {rows[0].seq}, {benchmarks[NAME].real_time} (the
element of that name), {parts[*].cases} (all of them); or one of the shorthands of `shorthands`. Over
several elements or files whole numbers are added, and everything else must be the same.
"""
import json
import re
import statistics
import string


class BadFigure(Exception):
    """A template that the file cannot fill, with the reason."""


class Member:
    """A value in a file, and the commit that the file says it was measured at (None: it does not)."""

    def __init__(self, value, commit=None):
        self.value = value
        self.commit = commit_in(value) or commit

    def __getattr__(self, name):
        if not isinstance(self.value, dict) or name not in self.value:
            raise BadFigure(f"there is no member '{name}'")
        return Member(self.value[name], self.commit)

    def __getitem__(self, key):
        if isinstance(self.value, dict):
            return Every(map(self.__getattr__, self.value)) if key == "*" else self.__getattr__(key)
        found = [Member(element, self.commit) for i, element in enumerate(self.value)
                 if key in ("*", i) or isinstance(element, dict) and element.get("name") == key]
        if not found:
            raise BadFigure(f"there is no element '{key}'")
        return Every(found) if key == "*" else found[0]


class Every(list):
    """Several members, asked together."""

    def __getattr__(self, name):
        return Every(getattr(member, name) for member in self)


class Growth:
    """growth[KERNELS TENSORS PART], each with commas: the error of the case on several ranks over
    that of the same case on one rank, as a range over all that is named."""

    def __init__(self, entries, commit):
        self.relative = {entry["case"]: entry["relative"] for entry in entries}
        self.commit = commit

    def __getitem__(self, words):
        kernels, tensors, parts = (set(word.split(",")) for word in words.split())
        ratios = [f"{relative[tensor] / self.relative[one][tensor]:.2f}"
                  for case, relative in self.relative.items()
                  if (one := re.sub(r"/P\d+/", "/P1/", case)) != case
                  and kernels & set(case.split("/")) and parts & set(case.split("/"))
                  for tensor in tensors]
        if not ratios:
            raise BadFigure(f"no cases of growth[{words}]")
        low, high = min(ratios, key=float), max(ratios, key=float)
        return Member(low if low == high else f"{low} to {high}", self.commit)


class Milliseconds:
    """milliseconds[BENCHMARK]: the median of its times."""

    def __init__(self, measurements, commit):
        self.samples = {one["parts"].get("benchmark"): one["samples"] for one in measurements
                        if (one["name"], one["unit"]) == ("time", "s")}
        self.commit = commit

    def __getitem__(self, benchmark):
        if benchmark not in self.samples:
            raise BadFigure(f"there is no benchmark '{benchmark}'")
        return Member(1e3 * statistics.median(self.samples[benchmark]), self.commit)


def commit_in(value):
    """Of a part of a file, whichever program wrote it; None where it says none."""
    if not isinstance(value, dict):
        return None
    for place in (value, value.get("environment"), value.get("context")):
        if isinstance(place, dict) and isinstance(place.get("commit"), str):
            return place["commit"]
    return None


def shorthands(document):
    """By name, what results of one kind hold in different places."""
    commit = commit_in(document)
    environment = document.get("environment", document)
    faults = document.get("faults", {})
    score = faults.get("by_fault", faults)
    found = {**document.get("summary", {}), "commit": commit,
             "seconds": environment.get("wall_seconds", document.get("seconds"))}
    if "killed" in score:
        found |= {"killed": score["killed"], "planted": score["killed"] + score["survived"]}
    names = {name: Member(value, commit) for name, value in found.items() if value is not None}
    if "relative_frobenius_error" in document:
        names["growth"] = Growth(document["relative_frobenius_error"], commit)
    if "measurements" in document:
        names["milliseconds"] = Milliseconds(document["measurements"], commit)
    return names


class Names(dict):
    """What a template may begin a field with."""

    def __init__(self, document):
        super().__init__(shorthands(document))
        self.document = Member(document)

    def __missing__(self, name):
        return getattr(self.document, name)


def one_of(members):
    """Their value together."""
    values = [member.value for member in members]
    if all(type(value) is int for value in values):
        return sum(values)
    if any(value != values[0] for value in values):
        raise BadFigure(f"the files differ: {values}")
    return values[0]


class Template(string.Formatter):
    """A template over some files; `commits` are those of what it was filled with."""

    def __init__(self, paths):
        self.files = [Names(json.loads(path.read_text())) for path in paths]
        self.commits = set()

    def get_field(self, field_name, args, kwargs):
        members = []
        for names in self.files:
            found = super().get_field(field_name, (), names)[0]
            members += found if isinstance(found, Every) else [found]
        if not all(isinstance(member, Member) for member in members):
            raise BadFigure(f"'{field_name}' is no figure")
        self.commits |= {member.commit for member in members}
        return one_of(members), field_name


def filled(template, paths):
    """The text of a template, and the commits of its figures; throws BadFigure."""
    try:
        form = Template(paths)
        return form.format(template), form.commits
    except (BadFigure, ValueError, TypeError, KeyError, IndexError) as error:
        names = ", ".join(path.name for path in paths)
        raise BadFigure(f"'{template}' of {names}: {error}") from error
