# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""A ring whose last rank does what no function should: the seed of a case says what."""

import ctypes
import os
import subprocess
import sys

import torch
from torch import distributed

import ring
import ringcheck

LAST = 1


def hangs(o, lse, q, group):
    distributed.recv(torch.empty(1), 0, group, tag=7)


def raises(o, lse, q, group):
    print("it will raise")
    raise ValueError("on purpose")


def prints(o, lse, q, group):
    print("{" * 100000, flush=True)
    return o, lse


def not_contiguous(o, lse, q, group):
    return o.mT.contiguous().mT, lse


def writes(o, lse, q, group):
    with torch.no_grad():
        q += 1
    return o, lse


def closes(o, lse, q, group):
    os.close(3)
    return o, lse


def forks(o, lse, q, group):
    if os.fork() == 0:
        os._exit(0)
    return o, lse


def leaves_a_child(o, lse, q, group):
    subprocess.Popen(["sleep", "600"])
    return o, lse


def aliases(o, lse, q, group):
    return o * 0 + q, lse


# What it does, the verdict, and a word of its reason; the seed is its place.
MISDEEDS = [
    ("good", lambda o, lse, q, group: (o, lse), "pass", ""),
    ("exits at once", lambda *_: os._exit(3), "crash", "exit code 3"),
    ("exits", lambda *_: sys.exit(4), "crash", "exit"),
    ("exits with a text", lambda *_: sys.exit("no such thing"), "crash", "exit"),
    ("segfaults", lambda *_: ctypes.string_at(0), "crash", "signal 11"),
    ("raises", raises, "crash", "on purpose"),
    ("returns None", lambda *_: None, "crash", "returned None"),
    ("wrong shape", lambda o, lse, q, group: (o[:, :, 1:], lse), "crash", "shape"),
    ("integers", lambda o, lse, q, group: (o.int(), lse), "crash", "o "),
    ("on meta", lambda o, lse, q, group: (o.to("meta"), lse), "crash", "meta"),
    ("not contiguous", not_contiguous, "pass", ""),
    ("float64", lambda o, lse, q, group: (o.double(), lse), "fail", ""),
    ("aliases", aliases, "fail", ""),
    ("writes", writes, "crash", "wrote into its input q"),
    ("forks", forks, "pass", ""),
    ("leaves a child", leaves_a_child, "pass", ""),
    ("prints", prints, "pass", ""),
    ("closes 3", closes, "pass", ""),
    ("good again", lambda o, lse, q, group: (o, lse), "pass", ""),
    ("hangs", hangs, "hang", ""),
    ("good at last", lambda o, lse, q, group: (o, lse), "pass", ""),
]


@ringcheck.subject(balance="headtail", masks=["causal"], dtypes=["float32"], shows=["o", "lse", "dq", "dk", "dv"])
def misbehaving(q, k, v, *, case, group):
    o, lse = ring.Ring.apply(q, k, v, case, group)
    misdeed = MISDEEDS[int(case.text.rsplit("seed", 1)[1])][1]
    return misdeed(o, lse, q, group) if group.rank() == LAST else (o, lse)
