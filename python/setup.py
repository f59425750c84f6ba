# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""One wheel for every Python: the program and its libraries are in it, and no extension module."""

import os
import pathlib
import platform
import re
import subprocess

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent


class BuildWithProgram(build_py):
    """Adds what `cmake --install` puts into a prefix: of the build that RINGCHECK_BUILD names, or of the one
    beside this folder, which is made where it is missing."""

    def run(self) -> None:
        super().run()
        build = pathlib.Path(os.environ.get("RINGCHECK_BUILD") or HERE.parent / "build" / "release")
        if not (build / "bin" / "ringcheck").exists():
            subprocess.run([str(HERE.parent / "ci" / "build.sh"), "release", "ringcheck_command",
                            "ringcheck_core"], check=True)
        bundle = pathlib.Path(self.build_lib).resolve() / "ringcheck" / "bundle"
        subprocess.run([cmake_of(build), "--install", str(build), "--component", "command",
                        "--strip", "--prefix", str(bundle)], check=True)
        without_links(bundle)


def cmake_of(build: pathlib.Path) -> str:
    """The one that configured it: PATH may have none."""
    return re.search("^CMAKE_COMMAND:INTERNAL=(.*)$", (build / "CMakeCache.txt").read_text(encoding="utf-8"), re.M)[1]


def without_links(bundle: pathlib.Path) -> None:
    """A wheel holds no links: a library keeps the one name by which it is asked for."""
    (bundle / "bin" / "ringcheck").unlink()
    for named in (bundle / "lib").glob("*.so.*"):
        if named.is_symlink():
            real = named.resolve()
            named.unlink()
            real.rename(named)
    for link in (bundle / "lib").glob("*.so"):
        if link.is_symlink():
            link.unlink()


class WheelOfThisPlatform(bdist_wheel):
    """Needs the C library that the program was linked to."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple[str, str, str]:
        major, minor = platform.libc_ver()[1].split(".")[:2]
        return "py3", "none", f"manylinux_{major}_{minor}_{platform.machine()}"


class WithProgram(Distribution):
    def has_ext_modules(self) -> bool:
        return True


setup(distclass=WithProgram, cmdclass={"build_py": BuildWithProgram, "bdist_wheel": WheelOfThisPlatform})
