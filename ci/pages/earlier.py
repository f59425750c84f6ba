#!/usr/bin/python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""earlier.py FILE TIME   a matrix of kills or limits of detection from before results had kinds, in place, as one of today.

Such a file says neither when nor on which host it was measured: TIME is when it was committed, the GPU is what its name
says, the rest stays empty. Any other file is left as it is."""
import json
import pathlib
import sys


def result_of(kind, own, command, old, started, environment=()):
    """A result of this kind, with what the old file says of where it was measured."""
    unknown = dict.fromkeys(("version", "commit", "libtorch", "mpi", "compiler", "host", "cpu", "system", "launcher", "transport"), "")
    said = {name: old[name] for name in ("commit", "cpu") if name in old}
    return {"schema_version": 2, "kind": kind,
            "environment": {**unknown, "device": "cpu", "cores": 0, "wall_seconds": old.get("seconds", 0), **said,
                            **dict(environment), "command": command, "started": started},
            kind: own}


def limits_of(old, started, environment=()):
    """The result that has these limits."""
    own = {"kernel": "plain", "trials": old["trials"], "limits": old["limits"]}
    return result_of("sensitivity", own, "ringcheck faults --sensitivity", old, started, environment)


def matrix_of(old, started, environment=()):
    """The result that has this matrix of kills."""
    own = {name: old[name] for name in ("by_dtype", "cells", "oracles", "peers", "score", "self_test", "unclean") if name in old}
    return result_of("faults", own, "ringcheck faults", old, started, old.get("environment", environment))


def main(path, time):
    path = pathlib.Path(path)
    old = json.loads(path.read_text())
    device = {"device": "1 x NVIDIA H200"} if path.name.startswith("h200_gpu1_") else {}
    if not isinstance(old, dict) or "kind" in old:
        return
    for needed, result in (({"trials", "limits"}, limits_of), ({"cells", "oracles", "score"}, matrix_of)):
        if needed <= old.keys():
            path.write_text(json.dumps(result(old, time, device)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
