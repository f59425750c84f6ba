# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""How a sequence is cut over the ranks: by the name of a balancer, or by a function of the user's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ringcheck.refused import Refused

#: (length, world, rank) -> the positions of that rank's slots, in the order in which it holds them.
Cut = Callable[[int, int, int], Iterable[int]]

OWN = "own"  #: what a case says of a function
KNOWN = "contiguous, headtail, striped[BLOCK], or a function (length, world, rank) -> positions"
FURTHER = 1024  # lengths that are tried where a function refuses one


def check(balance: str | Cut) -> None:
    """Throws Refused where it is neither a name nor a function."""
    if not callable(balance) and not re.fullmatch(r"contiguous|headtail|striped\[[1-9]\d*\]", str(balance)):
        raise Refused(f"balance={balance!r}; known: {KNOWN}")


def text(balance: str | Cut) -> str:
    """As a case says it."""
    return OWN if callable(balance) else balance


def _granule(balance: str, world: int) -> int:
    block = re.fullmatch(r"striped\[(\d+)\]", balance)
    if block:
        return world * int(block.group(1))
    return world * (2 if balance == "headtail" else 1)


def shards(cut: Cut, length: int, world: int) -> list[list[int]]:
    """Of every rank. Throws Refused where they are no cut of the sequence: as many slots on every rank, and each
    position below their sum on one; those at and beyond `length` hold no token."""
    said = f"balance({length}, {world}, rank)"
    found = []
    for rank in range(world):
        positions = cut(length, world, rank)
        found.append([int(one) for one in (positions.tolist() if hasattr(positions, "tolist") else positions)])
    sizes = [len(shard) for shard in found]
    if len(set(sizes)) > 1:
        raise Refused(f"{said} gives ranks {min(sizes)} to {max(sizes)} slots; want as many on every rank")
    slots = sum(sizes)
    if slots < length:
        raise Refused(f"{said} gives {slots} slots in all; want at least {length}")
    seen: set[int] = set()
    for rank, shard in enumerate(found):
        for position in shard:
            if not 0 <= position < slots:
                raise Refused(f"{said} gives rank {rank} the position {position}; want 0 to {slots - 1}")
            if position in seen:
                raise Refused(f"{said} gives the position {position} to two slots, the second one of rank {rank}")
            seen.add(position)
    return found


def spans(positions: list[int]) -> list[list[int]]:
    """[begin, count, stride] of the runs that they are."""
    runs: list[list[int]] = []
    for position in positions:
        if runs:
            begin, count, stride = runs[-1]
            if count == 1 and position > begin:
                runs[-1] = [begin, 2, position - begin]
                continue
            if count > 1 and position == begin + count * stride:
                runs[-1][1] += 1
                continue
        runs.append([position, 1, 1])
    return runs


def refusal(balance: str | Cut, length: int, world: int, pads: bool) -> str | None:
    """Why so many tokens cannot be cut so, or None. pads: slots without a token are taken."""
    if not callable(balance):
        granule = 1 if pads else _granule(balance, world)
        return None if length % granule == 0 else f"takes no pad slots: lengths that {granule} divides"
    try:
        slots = sum(map(len, shards(balance, length, world)))
    except Exception as error:
        return f"cannot cut {length} tokens for {world} ranks: {error}"
    return None if pads or slots == length else f"takes no pad slots, and cuts {length} tokens into {slots} slots"


def nearest(balance: str | Cut, length: int, world: int, pads: bool, longest: int | None) -> int:
    """The next length that can be cut so and is not above `longest`; `length` where there is none."""
    if not callable(balance):
        granule = 1 if pads else _granule(balance, world)
        up = -(-length // granule) * granule
        return up if longest is None or up <= longest else longest // granule * granule or length
    most = length + FURTHER if longest is None else min(longest, length + FURTHER)
    further, shorter = range(length, most + 1), range(min(most, length), 0, -1)
    fitting = (one for tried in (further, shorter) for one in tried if refusal(balance, one, world, pads) is None)
    return next(fitting, length)
