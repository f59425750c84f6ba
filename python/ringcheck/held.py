# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""The most bytes of tensors that are held at a time, as PyTorch's allocators report them."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import torch
from torch import autograd


class Held:
    """While it is on: beyond what was held before. `peak` is None where this PyTorch does not say."""

    peak: int | None = None

    def __enter__(self) -> Held:
        return self

    def __exit__(self, *unused: object) -> None:
        pass


class _OnCuda(Held):
    def __enter__(self) -> Held:
        torch.cuda.reset_peak_memory_stats()
        self._before = torch.cuda.memory_allocated()
        return self

    def __exit__(self, *unused: object) -> None:
        self.peak = torch.cuda.max_memory_allocated() - self._before


class _OnCpu(Held):
    """By the profiler that asks the allocator alone and records no operator: what this thread and the backward
    pass allocate and free, whatever is compiled or dispatched otherwise."""

    _now: _OnCpu | None = None

    def __enter__(self) -> Held:
        _give_way()
        autograd._enable_profiler_legacy(_config())
        autograd._enable_record_function(False)
        _OnCpu._now = self
        return self

    def __exit__(self, *unused: object) -> None:
        if _OnCpu._now is self:
            self.peak = _most(_OnCpu._end())

    @staticmethod
    def _end() -> list[list[Any]]:
        _OnCpu._now = None
        autograd._enable_record_function(True)
        return autograd._disable_profiler_legacy()

    @staticmethod
    def give_way() -> None:
        if _OnCpu._now is not None:
            _OnCpu._end()


def _most(threads: list[list[Any]]) -> int:
    """Of the changes in each thread, in the order of time."""
    changes = [event for thread in threads for event in thread if event.kind() == "memory_alloc"]
    if len(threads) > 1 and changes:
        changes.sort(key=changes[0].cpu_elapsed_us)
    return max(itertools.accumulate((change.cpu_memory_usage() for change in changes), initial=0))


@functools.cache
def _config() -> Any:
    from torch._C._profiler import _ExperimentalConfig

    return autograd.ProfilerConfig(autograd.ProfilerState.CPU, False, True, False, False, False, _ExperimentalConfig())


@functools.cache
def _give_way() -> None:
    """A thread has one profiler: one that the function starts itself takes the place of ours."""
    enable = autograd.profiler._enable_profiler

    def enabled(*args: Any, **kwargs: Any) -> Any:
        _OnCpu.give_way()
        return enable(*args, **kwargs)

    autograd.profiler._enable_profiler = enabled


@functools.cache
def _is_known() -> bool:
    """Whether this PyTorch has what `_OnCpu` uses, none of which it promises to keep."""
    try:
        with _OnCpu() as held:
            torch.empty(1)
        return held.peak is not None
    except (AttributeError, ImportError, RuntimeError, TypeError):
        return False


def held_on(device: torch.device) -> Held:
    if device.type == "cuda":
        return _OnCuda()
    return _OnCpu() if _is_known() else Held()
