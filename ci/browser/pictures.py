#!/usr/bin/python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""pictures.py PAGE FOLDER   the pictures of docs/dashboard.md, of the page that ci/dashboard.sh makes."""
import pathlib
import sys

from browser import Browser

PICTURES = {  # name: address, width, height, scheme
    "overview": ("#", 1440, 1000, "light"),
    "trends": ("#view=trends&metric=largest+error+%2F+bound&gpu=NVIDIA+H200", 1440, 900, "dark"),
    "bugs": ("#view=bugs", 1440, 900, "light"),
    "phone": ("#view=ranks", 390, 1500, "light"),
}


def main(page, folder):
    at = Browser()
    for name, (address, width, height, scheme) in PICTURES.items():
        at.prefer(scheme)
        at.resize(width, height)
        at.open(f"file://{pathlib.Path(page).resolve()}{address}")
        at.picture(pathlib.Path(folder) / f"dashboard_{name}.png", height)
    at.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
