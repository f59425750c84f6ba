# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors as NumPy arrays, for whatever speaks neither PyTorch nor needs it."""

from __future__ import annotations

from typing import Any

import numpy

from ringcheck.memory import Memory
from ringcheck.subject import Refused


def _bfloat16() -> numpy.dtype:
    try:
        import ml_dtypes
    except ImportError:
        raise Refused("bf16 as a NumPy array needs the package ml_dtypes; install it, or declare "
                      "dtypes without bf16") from None
    return numpy.dtype(ml_dtypes.bfloat16)


def _dtype(name: str) -> numpy.dtype:
    return _bfloat16() if name == "bf16" else numpy.dtype({"fp16": "float16"}.get(name, name))


def read(one: dict, memory: Memory) -> numpy.ndarray:
    """A copy, with the strides that the list says."""
    dtype = _dtype(one["dtype"])
    shape, strides = one["shape"], one["strides"]
    spanned = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides)) if all(shape) else 0
    flat = numpy.frombuffer(memory.span(one["offset"], spanned * dtype.itemsize), dtype=dtype).copy()
    return numpy.lib.stride_tricks.as_strided(flat, shape, [dtype.itemsize * stride for stride in strides])


def described(name: str, tensor: Any) -> tuple[str, list[int], int]:
    try:
        array = numpy.asarray(tensor)
    except Exception:
        raise Refused(f"{name} is a {type(tensor).__name__}; want an array") from None
    names = {"float64": "float64", "float32": "float32", "float16": "fp16", "bfloat16": "bf16"}
    if array.dtype.name not in names:
        raise Refused(f"{name} has dtype {array.dtype.name}; want a floating one")
    return names[array.dtype.name], list(array.shape), array.nbytes


def write(tensor: Any, memory: memoryview) -> None:
    memory[:] = numpy.ascontiguousarray(numpy.asarray(tensor)).tobytes()
