# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Where the processes of the ranks meet: the process groups of torch.distributed."""

from __future__ import annotations

import contextlib
import datetime
from typing import Any

#: A wait in a collective that nobody comes to; the judge's own deadline is earlier.
LONG = datetime.timedelta(hours=12)


def made(store: Any, rank: int, size: int) -> Any:
    """The default process group of these ranks, who meet in a store."""
    import torch
    from torch import distributed

    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    distributed.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=LONG)
    return distributed.group.WORLD


def there() -> Any:
    """The one that was made last."""
    from torch import distributed

    return distributed.group.WORLD


def left() -> None:
    """There is none from here on, for this rank: others stay in theirs until they are called with other ranks."""
    import torch
    from torch import distributed

    if torch.cuda.is_available():
        broken_off()  # NCCL waits for all that are in a communicator before it destroys it
    elif distributed.is_initialized():
        distributed.destroy_process_group()


def broken_off() -> None:
    """There is none from here on, and what waits in it on a GPU for a rank that has failed ends: NCCL does not see that
    by itself."""
    from torch import distributed
    from torch.distributed import distributed_c10d

    with contextlib.suppress(ValueError):  # another thread did it
        if distributed.is_initialized():
            distributed_c10d._abort_process_group()


class Meetings:
    """The default process group is that of exactly the ranks of the case; it is made anew when they change."""

    def __init__(self) -> None:
        self._store: Any = None  # of this process, where it is the first of a group
        self._others: dict[int, Any] = {}  # of others, by port

    def offer(self) -> int:
        """The port at which others find this process."""
        from torch.distributed import TCPStore

        if self._store is None:
            self._store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=LONG)
        return self._store.port

    def meet(self, meeting: dict, rank: int) -> Any:
        """The process group of the ranks."""
        from torch.distributed import PrefixStore

        if not meeting["anew"]:
            return there()
        left()
        store = PrefixStore(f"meeting {meeting['number']}", self._store_at(meeting["port"]))
        return made(store, rank, len(meeting["world_ranks"]))

    def gpu(self, world_rank: int) -> int:
        """Of a rank: all of them are on this host."""
        return world_rank

    def _store_at(self, port: int) -> Any:
        from torch.distributed import TCPStore

        if self._store is not None and self._store.port == port:
            return self._store
        if port not in self._others:
            self._others[port] = TCPStore("127.0.0.1", port, is_master=False, timeout=LONG)
        return self._others[port]
