# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What the judge asks about a function before it runs."""

from __future__ import annotations

from ringcheck import balancing
from ringcheck.case import Case
from ringcheck.subject import Subject


def described(subject: Subject, case: Case, most_ranks: int) -> dict:
    """Why the case is refused, what is promised, and the parts of a case that would be taken. most_ranks: that can
    take part; 0 is any number."""
    few = f"{case.world} ranks need a GPU each, and there are {most_ranks}" if 0 < most_ranks < case.world else None
    return {"refuses": subject.refusal(case) or few, "promise": subject.promise(case), "fit": subject.fit(case),
            "most_ranks": most_ranks}


def cut(subject: Subject, length: int, world: int) -> dict:
    """Of a sequence, by the subject's own balance: runs of positions, a list of them for each rank."""
    return {"shards": [balancing.spans(shard) for shard in balancing.shards(subject.balance, length, world)]}
