# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors in memory that the judge shares with this process."""

from __future__ import annotations

import mmap
import os
from typing import Any

ALIGNMENT = 64


class Memory:
    """The bytes behind a descriptor, as many as there are."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._map: mmap.mmap | None = None

    def _mapped(self) -> memoryview:
        size = os.fstat(self._descriptor).st_size
        if self._map is None or len(self._map) != size:
            self._map = mmap.mmap(self._descriptor, size)  # the old one lives as long as somebody reads it
        return memoryview(self._map)

    def read(self) -> memoryview:
        return self._mapped()

    def write(self, framework: Any, tensors: dict[str, Any]) -> list[dict]:
        """Copies tensors into it and says where they stand."""
        listed, end = [], 0
        for name, tensor in tensors.items():
            dtype, shape, size = framework.described(name, tensor)
            listed.append({"name": name, "dtype": dtype, "shape": shape, "offset": end, "bytes": size})
            end = -(-(end + size) // ALIGNMENT) * ALIGNMENT
        if end > os.fstat(self._descriptor).st_size:
            os.ftruncate(self._descriptor, end)
        view = self._mapped() if end else memoryview(b"")
        for one, tensor in zip(listed, tensors.values()):
            size = one.pop("bytes")
            if size:
                framework.write(tensor, view[one["offset"]:one["offset"] + size])
        return listed
