# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Where the judge and a rank find each other's tensors."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Callable
from typing import Any

ALIGNMENT = 64

#: So many bytes, from an offset on.
Span = Callable[[int, int], memoryview]


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


class Memory:
    """Shared with the judge: the bytes behind a descriptor, as many as there are."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._map: mmap.mmap | None = None

    def _mapped(self) -> memoryview:
        size = os.fstat(self._descriptor).st_size
        if self._map is None or len(self._map) != size:
            self._map = mmap.mmap(self._descriptor, size)  # the old one lives as long as somebody reads it
        return memoryview(self._map)

    def span(self, offset: int, size: int) -> memoryview:
        """So many bytes, from an offset on."""
        return self._mapped()[offset:offset + size]

    def on_write(self) -> Span:
        """The same as it is now, until the next question: who writes there writes into pages of its own."""
        mapped = mmap.mmap(self._descriptor, os.fstat(self._descriptor).st_size, flags=mmap.MAP_PRIVATE)
        return lambda offset, size: memoryview(mapped)[offset:offset + size]

    def write(self, framework: Any, tensors: dict[str, Any], end: int) -> list[dict]:
        """Copies tensors into it, not before the byte `end`, and says where they stand."""
        listed, end = [], _aligned(end)
        for name, tensor in tensors.items():
            dtype, shape, size = framework.described(name, tensor)
            listed.append({"name": name, "dtype": dtype, "shape": shape, "offset": end, "bytes": size})
            end = _aligned(end + size)
        if end > os.fstat(self._descriptor).st_size:
            os.ftruncate(self._descriptor, end)
        view = self._mapped() if end else memoryview(b"")  # which cannot be mapped
        for one, tensor in zip(listed, tensors.values()):
            size = one.pop("bytes")
            if size:
                framework.write(tensor, view[one["offset"]:one["offset"] + size])
        return listed


class OwnMemory:
    """Of the process that judges and calls: tensors stay where they are, and their offsets are addresses."""

    def __init__(self) -> None:
        self._lent: list[Any] = []

    def span(self, address: int, size: int) -> memoryview:
        """So many bytes, from an address on."""
        return memoryview((ctypes.c_char * size).from_address(address)).cast("B")

    def write(self, framework: Any, tensors: dict[str, Any], _: int) -> list[dict]:
        """Keeps tensors until the next ones, and says where they stand."""
        listed = []
        self._lent = []
        for name, tensor in tensors.items():
            dtype, shape, _ = framework.described(name, tensor)
            here = framework.on_host(tensor)
            self._lent.append(here)
            listed.append({"name": name, "dtype": dtype, "shape": shape, "offset": here.data_ptr()})
        return listed
