# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""The ranks that a launcher started, on whatever hosts: what one of them knows, all of them know, by the key-value
store of torch.distributed at MASTER_ADDR:MASTER_PORT."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import torch
from torch import distributed
from torch.distributed import PrefixStore, TCPStore

from ringcheck import group

AGENT = "TORCHELASTIC_USE_AGENT_STORE"  #: where it is True, torchrun keeps the store; else rank 0 does
PIECE = 1 << 20  # bytes of one value
LOOK = 0.05  # seconds between two looks at the others
TO_HEAR = 60.0  # seconds, of the others before rank 0 ends its store

_meetings = itertools.count()


class Together:
    """One rank among all, from a call that all of them make until `end`."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self._keeps = rank == 0 and os.environ.get(AGENT) != "True"
        store = TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), is_master=self._keeps,
                         wait_for_workers=False, timeout=group.LONG)
        restarts = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        prefix = f"ringcheck in Python {restarts} {next(_meetings)}"
        self._store = PrefixStore(prefix, store)
        self._watched = PrefixStore(prefix, store.clone())  # while the other one waits
        self._told = self._calls = self._groups = 0
        self._ranks: list[int] | None = None  # of the process group that there is

    @contextlib.contextmanager
    def store_is_kept(self) -> Iterator[None]:
        """For whoever else meets at the same address meanwhile."""
        before = os.environ.get(AGENT)
        os.environ[AGENT] = "True"
        try:
            yield
        finally:
            if before is None:
                del os.environ[AGENT]
            else:
                os.environ[AGENT] = before

    def told(self, text: str = "") -> str:
        """What rank 0 says here; the others say nothing."""
        key = f"told {self._told}"
        self._told += 1
        if self.rank == 0:
            data = text.encode()
            pieces = [data[i:i + PIECE] for i in range(0, len(data), PIECE)]
            for number, piece in enumerate(pieces):
                self._store.set(f"{key} {number}", piece)
            self._store.set(key, str(len(pieces)))
            return text
        count = int(self._store.get(key))
        return b"".join(self._store.get(f"{key} {number}") for number in range(count)).decode()

    def meet(self, meeting: dict, rank: int) -> Any:
        """The process group of some of the ranks, in an order of their own; it stays as long as they do."""
        ranks = meeting["world_ranks"]
        if ranks != self._ranks:
            self.part()
            store = PrefixStore(f"group {self._groups}", self._store)
            self._groups += 1
            self._ranks = ranks
            made = group.made(store, rank, len(ranks))
            if meeting.get("device") == "cuda":  # NCCL's ranks meet here, not where one of them may have failed before
                distributed.all_reduce(torch.zeros(1, device="cuda"))
                torch.cuda.synchronize()
            return made
        return group.there()

    def part(self) -> None:
        """Without that group; whoever waits in it for this rank need not."""
        self._ranks = None
        group.left()

    @contextlib.contextmanager
    def ends_with_others(self) -> Iterator[None]:
        """Where another rank fails meanwhile, the group is broken off here as well: on a GPU nobody else would tell."""
        failed, over = self._watched.add("failed", 0), threading.Event()

        def watch() -> None:
            while not over.wait(LOOK):
                if self._watched.add("failed", 0) != failed:
                    return group.broken_off()

        watcher = threading.Thread(target=watch, name="ringcheck: others", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def gpu(self, _: int) -> int:
        """Of this rank."""
        return int(os.environ.get("LOCAL_RANK", self.rank))

    def agreed(self, answer: dict) -> dict:
        """The answer where no rank has failed; else, on all of them, which one failed first, and why."""
        key = f"call {self._calls}"
        self._calls += 1
        said = "good"
        if "error" in answer:
            said = f"{self._store.add('failed', 1)} {answer['error']}"
            group.broken_off()
            self.part()
        self._store.set(f"{key} {self.rank}", said)
        everybody = [text.decode() for text in self._store.multi_get([f"{key} {rank}" for rank in range(self.size)])]
        failed = [(int(text.split(" ", 1)[0]), rank) for rank, text in enumerate(everybody) if text != "good"]
        if not failed:
            return answer
        self.part()
        first = min(failed)[1]
        return {"failed": {"rank": first, "why": everybody[first].split(" ", 1)[1]}}

    def end(self) -> None:
        """The last of it: rank 0 leaves when the others have."""
        self.part()
        left = self._store.add("left", 1)
        until = time.monotonic() + TO_HEAR
        while self._keeps and left < self.size and time.monotonic() < until:
            time.sleep(0.01)
            left = self._store.add("left", 0)
