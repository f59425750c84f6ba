# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Under torchrun: every rank runs the script, and one verdict is everybody's."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import socket
import time

from ringcheck.subject import Refused

#: What torchrun sets for the ranks that it starts, beside TORCHELASTIC_*.
_VARIABLES = frozenset({"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE",
                        "ROLE_RANK", "ROLE_NAME", "ROLE_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"})
_ELASTIC = "TORCHELASTIC_"
_NCCL = "TORCH_NCCL_ASYNC_ERROR_HANDLING"  # torchrun's, too; without TORCHELASTIC_* it is the user's
_MOST_PORT = 65535
_meetings = itertools.count()


@dataclasses.dataclass(frozen=True)
class Launched:
    """This process, as one of the ranks that a launcher started."""

    rank: int
    size: int
    local: int  #: ranks on this host

    @property
    def hosts(self) -> int:
        return -(-self.size // self.local)

    def __str__(self) -> str:
        return f"{self.size} ranks on {self.hosts} hosts, {self.local} of them on {socket.gethostname()}"


def world() -> Launched | None:
    """None where no launcher started this process."""
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        return None
    try:
        rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        local = int(os.environ.get("LOCAL_WORLD_SIZE", size))
    except ValueError:
        raise Refused("RANK, WORLD_SIZE or LOCAL_WORLD_SIZE is no number; unset them, or start this by torchrun") from None
    if not 0 <= rank < size:
        raise Refused(f"RANK={rank} and WORLD_SIZE={size} contradict each other; unset them, or start this by torchrun")
    if not 0 < local <= size:
        raise Refused(f"LOCAL_WORLD_SIZE={local} and WORLD_SIZE={size} contradict each other; unset them, or start this by "
                      "torchrun")
    if size == 1 and "MASTER_ADDR" not in os.environ and "MASTER_PORT" not in os.environ:
        return None  # alone, as `ringcheck` takes it
    _check_meeting()
    return Launched(rank, size, local)


def _check_meeting() -> None:
    """Throws Refused where ranks are not told where they meet."""
    for name in ("MASTER_ADDR", "MASTER_PORT"):
        if not os.environ.get(name):
            raise Refused(f"{name} is not set beside RANK and WORLD_SIZE; unset both, or start this by torchrun")
    port = os.environ["MASTER_PORT"]
    if not port.isdecimal() or not 1 <= int(port) <= _MOST_PORT:
        raise Refused(f"MASTER_PORT={port!r}; want a number from 1 to {_MOST_PORT}, as torchrun gives one")


def without_launcher(variables: dict[str, str]) -> dict[str, str]:
    """What a program sees that is no rank of the launcher's."""
    by_torchrun = any(name.startswith(_ELASTIC) for name in variables)
    theirs = _VARIABLES | {_NCCL} if by_torchrun else _VARIABLES
    return {name: value for name, value in variables.items() if name not in theirs and not name.startswith(_ELASTIC)}


def _address() -> bytes:
    """Of this meeting, the same on all ranks: in no folder, and of this user."""
    run = os.environ.get("TORCHELASTIC_RUN_ID", "")
    port = os.environ.get("MASTER_PORT", "")
    return f"\0ringcheck-{os.getuid()}-{run}-{port}-{next(_meetings)}".encode()


class Everybody:
    """Rank 0 has a result, and tells the others."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(_address())
        self._listener.listen(size)

    def tell(self, exit_code: int, result: dict, seconds: float = 60) -> None:
        """Those that come, until none has come for so long: one that has ended does not."""
        line = (json.dumps([exit_code, result]) + "\n").encode()
        self._listener.settimeout(seconds)
        with contextlib.suppress(TimeoutError):
            for _ in range(self._size - 1):
                with self._listener.accept()[0] as other, contextlib.suppress(ConnectionError):
                    other.sendall(line)
        self._listener.close()


def hear() -> tuple[int, dict]:
    """What rank 0 has found. The launcher ends this process where rank 0 ends before."""
    address = _address()
    with socket.socket(socket.AF_UNIX) as other:
        while True:
            try:
                other.connect(address)
                break
            except (ConnectionRefusedError, FileNotFoundError):
                time.sleep(0.05)
        with other.makefile(encoding="utf-8") as line:
            text = line.readline()
    if not text:
        raise Refused("rank 0 ended without a verdict")
    exit_code, result = json.loads(text)
    return exit_code, result
