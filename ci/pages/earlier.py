#!/usr/bin/python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""earlier.py FILE TIME   limits of detection from before results had kinds, in place, as a result of today.

Such a file says neither when nor on which host it was measured: TIME is when it was committed, the rest stays empty. Any
other file is left as it is."""
import json
import pathlib
import sys


def limits_of(old, started, environment=()):
    """The result that has these limits."""
    unknown = dict.fromkeys(("version", "commit", "libtorch", "mpi", "compiler", "host", "cpu", "system", "launcher", "transport"), "")
    said = {name: old[name] for name in ("commit", "cpu") if name in old}
    return {"schema_version": 2, "kind": "sensitivity",
            "environment": {**unknown, "device": "cpu", "cores": 0, "wall_seconds": 0, **said, **dict(environment),
                            "command": "ringcheck faults --sensitivity", "started": started},
            "sensitivity": {"kernel": "plain", "trials": old["trials"], "limits": old["limits"]}}


def main(path, time):
    old = json.loads(pathlib.Path(path).read_text())
    if isinstance(old, dict) and "kind" not in old and {"trials", "limits"} <= old.keys():
        pathlib.Path(path).write_text(json.dumps(limits_of(old, time)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
