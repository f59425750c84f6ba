# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors of PyTorch."""

from __future__ import annotations

import ctypes
from typing import Any

import torch

from ringcheck.case import Case
from ringcheck.memory import Memory, OwnMemory, Span
from ringcheck.subject import Refused

_DTYPES = {"float64": torch.float64, "float32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16,
           "int64": torch.int64}
_BITS = {8: torch.int64, 4: torch.int32, 2: torch.int16, 1: torch.uint8}  # by bytes of an element
_compare_memory = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(
    ("memcmp", ctypes.CDLL(None)))
_NAMES = {dtype: name for name, dtype in _DTYPES.items() if name != "int64"}


def device_of(case: Case) -> torch.device:
    return torch.device("cuda", torch.cuda.current_device()) if case.device == "cuda" else torch.device("cpu")


def read(one: dict, span: Span) -> torch.Tensor:
    """Where the judge wrote it, with the strides that the list says."""
    dtype, shape, strides = _DTYPES[one["dtype"]], one["shape"], one["strides"]
    spanned = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides)) if all(shape) else 0
    if spanned == 0:
        return torch.empty(shape, dtype=dtype)
    there = torch.frombuffer(span(one["offset"], spanned * dtype.itemsize), dtype=dtype)
    return torch.empty(0, dtype=dtype).set_(there.untyped_storage(), 0, shape, strides)  # no view, but a tensor of its own


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    """Without a copy."""
    return tensor.view(_BITS[tensor.element_size()])


def _same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.is_contiguous() and other.is_contiguous() and one.numel():  # in half the time
        return _compare_memory(one.data_ptr(), other.data_ptr(), one.nbytes) == 0
    return torch.equal(_bits(one), _bits(other))


def described(name: str, tensor: Any) -> tuple[str, list[int], int]:
    if not isinstance(tensor, torch.Tensor):
        raise Refused(f"{name} is a {type(tensor).__name__}; want a torch.Tensor")
    if tensor.dtype not in _NAMES:
        raise Refused(f"{name} has dtype {tensor.dtype}; want a floating one")
    if tensor.device.type == "meta":
        raise Refused(f"{name} is on device meta and has no values")
    return _NAMES[tensor.dtype], list(tensor.shape), tensor.numel() * tensor.element_size()


def on_host(tensor: torch.Tensor) -> torch.Tensor:
    """Contiguous; the tensor itself where it is that."""
    return tensor.detach().to("cpu").contiguous()


def write(tensor: torch.Tensor, memory: memoryview) -> None:
    here = on_host(tensor)
    ctypes.memmove((ctypes.c_char * len(memory)).from_buffer(memory), here.data_ptr(), len(memory))


class Call:
    """One call of a function on a rank: its leaves, and what came of it."""

    def __init__(self, case: Case, listed: list[dict], memory: Memory | OwnMemory) -> None:
        self._given = {one["name"]: read(one, memory.span) for one in listed}
        own = self._own(listed, memory, device_of(case))
        self.positions, self.d_o = own["positions"].clone(), own["d_o"]  # a function may keep its positions
        self.q, self.k, self.v = (own[name].requires_grad_() for name in "qkv")
        self._before = {"q": self.q, "k": self.k, "v": self.v, "d_o": self.d_o}

    def _own(self, listed: list[dict], memory: Memory | OwnMemory, device: torch.device) -> dict[str, torch.Tensor]:
        """What the function may write into without changing what was given; without gaps."""
        if device.type != "cpu":
            return {name: given.to(device) for name, given in self._given.items()}
        if isinstance(memory, OwnMemory):
            return {name: given.clone() for name, given in self._given.items()}
        span = memory.on_write()
        pages = {one["name"]: read(one, span) for one in listed}
        return {name: one if one.is_contiguous() else one.clone() for name, one in pages.items()}

    def gradients(self, o: torch.Tensor, shows: tuple[str, ...]) -> dict[str, torch.Tensor]:
        """Of sum(o d_o), by autograd."""
        wanted = [name for name in ("dq", "dk", "dv") if name in shows]
        if not wanted or not isinstance(o, torch.Tensor):
            return {}
        if o.shape != self.d_o.shape:
            raise Refused(f"o has shape {list(o.shape)}; want [batch, q_heads, slots, dim_v], {list(self.d_o.shape)}")
        if o.device != self.d_o.device:
            raise Refused(f"o is on {o.device}, its inputs are on {self.d_o.device}")
        if not o.requires_grad:
            raise Refused("o does not require a gradient: it does not depend on q, k and v as autograd sees it; "
                          "return ringcheck.Result where you make the gradients yourself")
        leaves = [getattr(self, name[1:]) for name in wanted]
        found = torch.autograd.grad(o, leaves, self.d_o.to(o.dtype), allow_unused=True)
        return {name: one for name, one in zip(wanted, found) if one is not None}

    def check_inputs(self) -> None:
        """Throws where the function wrote into what it was given."""
        for name, tensor in self._before.items():
            if not _same_bits(tensor.detach().cpu(), self._given[name]):
                raise Refused(f"it wrote into its input {name}")
