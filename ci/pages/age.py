# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the code that a result measures has changed since its commit."""
import fnmatch
import subprocess

# By the path of the file, the first that matches: the folders that it measures.
MEASURED = (
    ("*/speed/*", "bench cp kernels"),
    ("*_bench.json", "bench parity cp kernels reference"),
    ("*_host_time.json", "bench cp kernels"),
    ("*_scaling_*", "bench cp kernels"),
    ("*_reference.json", "reference"),
    ("*_sanitizer.json", "kernels cp reference"),
    ("*_python_door.json", "python parity"),
    ("*.contract.json", "kernels"),
    ("*", "cp kernels parity reference"),
)


class CannotTell(Exception):
    """There is no history to ask."""


def measured_by(path):
    """The folders whose code a result measures."""
    return next(folders.split() for pattern, folders in MEASURED
                if fnmatch.fnmatch(path.as_posix(), pattern))


class History:
    """The commits of a checkout; throws CannotTell where it has none, or not all of them."""

    def __init__(self, root):
        self.root = root
        top = self.git("rev-parse", "--show-toplevel")
        if top is None or not root.samefile(top):
            raise CannotTell(f"{root} is no git checkout")
        if self.git("rev-parse", "--is-shallow-repository") == "true":
            raise CannotTell(f"{root} is a shallow clone; git fetch --unshallow brings the rest")

    def git(self, *arguments):
        """What git prints, or None where it fails."""
        try:
            run = subprocess.run(["git", "-C", self.root, *arguments], capture_output=True, text=True,
                                 check=False)
        except OSError:
            return None
        return None if run.returncode else run.stdout.strip()

    def changed_since(self, commit, path):
        """Why a result of that commit is old, or None. A commit that is not there is old."""
        if commit is None:
            return "it names no commit"
        folders = measured_by(path)
        behind = self.git("rev-list", "--count", f"{commit}..HEAD", "--", *folders)
        if behind is None:
            return f"{commit[:7]} is no commit of this history"
        return f"{behind} commits in {', '.join(folders)} since" if behind != "0" else None
