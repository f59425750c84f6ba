# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""The most bytes that a rank holds at a time are counted, and nothing is judged by them."""

import threading

import pytest
import torch
from ringcheck.held import held_on
from runs import findings, judged

CASE = "contiguous/full/P2/b1/hq2/hkv2/s32/d8/float32"
EXTRA, SLACK = 1 << 20, 32 << 10  # gloo's threads may be the last that have a buffer: nobody sees them free it

FILE = """
import ringcheck, torch
from torch.distributed.nn.functional import all_gather

def gathered(q, k, v, case, group):
    k, v = torch.cat(all_gather(torch.stack((k, v)), group), dim=3)
    return torch.softmax(q @ k.mT * case.scale, -1) @ v

def extra():
    return torch.ones(1 << 18)

@ringcheck.subject(masks=["full"])
def none(q, k, v, *, case, group):
    return gathered(q, k, v, case, group)

@ringcheck.subject(masks=["full"])
def one(q, k, v, *, case, group):
    o = gathered(q, k, v, case, group)
    o.held = extra()
    return o

@ringcheck.subject(masks=["full"])
def two(q, k, v, *, case, group):
    o = gathered(q, k, v, case, group)
    o.held = [extra(), extra()]
    return o

@ringcheck.subject(masks=["full"])
def in_turn(q, k, v, *, case, group):
    for _ in range(5):
        held = extra()
        del held
    return gathered(q, k, v, case, group)

class Backward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, o):
        return o.clone()

    @staticmethod
    def backward(ctx, d_o):
        held = extra()
        return d_o * held[:1]

@ringcheck.subject(masks=["full"])
def backward(q, k, v, *, case, group):
    return Backward.apply(gathered(q, k, v, case, group))

kept = extra()

@ringcheck.subject(masks=["full"])
def from_before(q, k, v, *, case, group):
    return gathered(q, k, v, case, group)

@ringcheck.subject(masks=["full"])
def profiled(q, k, v, *, case, group):
    with torch.profiler.profile():
        return gathered(q, k, v, case, group)
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("held") / "held.py"
    path.write_text(FILE, encoding="utf-8")
    return path


def peak(file, function):
    (case,) = judged(f"{file}:{function}", [CASE])
    assert case["verdict"] == "pass", case["reason"]
    return max(rank["peak_bytes"] for rank in case["ranks"]), case


def test_what_is_held_at_a_time(file):
    without, case = peak(file, "none")
    assert 0 < without < EXTRA / 4
    assert f"rank 0 held at most {case['ranks'][0]['peak_bytes']} bytes at a time, as its allocator saw" in findings(case)
    for function, more in {"one": EXTRA, "two": 2 * EXTRA, "backward": EXTRA, "from_before": 0}.items():
        assert abs(peak(file, function)[0] - without - more) <= SLACK, function
    assert peak(file, "in_turn")[0] == EXTRA


class Deep(torch.autograd.Function):
    """A backward pass within a backward pass, to a depth at which autograd takes another thread."""

    @staticmethod
    def forward(ctx, x, deeper, at_last):
        ctx.further = deeper, at_last
        return x.clone()

    @staticmethod
    def backward(ctx, d_x):
        deeper, at_last = ctx.further
        with torch.enable_grad():
            descend(deeper - 1, at_last) if deeper else at_last()
        return d_x, None, None


def descend(deeper, at_last):
    Deep.apply(torch.ones(1, requires_grad=True), deeper, at_last).backward()


def test_what_one_thread_allocates_and_another_one_frees_is_held_once():
    kept, threads = [], {threading.get_ident()}

    def allocate():
        threads.add(threading.get_ident())
        kept.append(torch.empty(EXTRA, dtype=torch.uint8))

    with held_on(torch.device("cpu")) as held:
        for _ in range(2):
            descend(64, allocate)
            kept.clear()
    assert len(threads) > 1
    assert abs(held.peak - EXTRA) <= SLACK


def test_a_profiler_of_the_function_itself_takes_the_place_of_ours(file):
    assert peak(file, "profiled")[0] == 0
