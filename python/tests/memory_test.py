# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Memory that the judge shares with a rank."""

import os

import torch
from ringcheck import torch_tensors
from ringcheck.memory import ALIGNMENT, Memory


def shared(values):
    descriptor = os.memfd_create("test")
    memory = Memory(descriptor)
    return memory, memory.write(torch_tensors, {"q": values}, 0)[0] | {"strides": list(values.stride())}


def test_what_is_written_is_aligned_wherever_the_last_ended():
    memory, _ = shared(torch.ones(3))
    (written,) = memory.write(torch_tensors, {"o": torch.ones(5, dtype=torch.float16)}, 3 * 4)
    assert written["offset"] == ALIGNMENT


def test_memory_that_has_grown_is_mapped_anew():
    memory, listed = shared(torch.ones(3))
    reader = Memory(memory._descriptor)
    assert torch_tensors.read(listed, reader.span).equal(torch.ones(3))
    values = torch.arange(5000.0)
    (written,) = memory.write(torch_tensors, {"q": values}, 0)
    for side in (memory, reader):
        assert torch_tensors.read(written | {"strides": [1]}, side.span).equal(values)


def test_a_page_that_is_written_to_is_the_writers_own():
    values = torch.arange(6.0).view(2, 3)
    memory, listed = shared(values)
    given, own = torch_tensors.read(listed, memory.span), torch_tensors.read(listed, memory.on_write())
    own += 1
    assert own.equal(values + 1) and given.equal(values)
    assert torch_tensors.read(listed, memory.on_write()).equal(values)
