# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""An attention of nobody's, in plain loops: what a program that knows nothing of RingCheck answers.
The variable BUG plants one of the mistakes of BUGS."""
import math
import os

BUG = os.environ.get("BUG", "")
BUGS = ["dk_of_rank_1", "dropped_hop", "cp_off", "mask_off_by_one", "threefold", "constant_lse"]


def rows(tensor):
    """[batch][head][slot] of channels, or of one number."""
    _, shape, values = tensor
    width = shape[3] if len(shape) == 4 else 1
    return [[[values[((b * shape[1] + h) * shape[2] + s) * width:][:width] for s in range(shape[2])]
             for h in range(shape[1])] for b in range(shape[0])]


def flat(nested):
    return [x for part in nested for x in flat(part)] if isinstance(nested, list) else [nested]


def sees(query_rank, query, key_rank, key, world):
    if query < 0 or key < 0:
        return False
    if BUG == "cp_off" and query_rank != key_rank:
        return False
    if BUG == "dropped_hop" and key_rank == (query_rank + 1) % world:
        return False
    return key < query if BUG == "mask_off_by_one" and query > 0 else key <= query


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def add(to, factor, x):
    for i, value in enumerate(x):
        to[i] += factor * value


def head_of(ranks, b, h, group, scale, out):
    """Forward and backward of one query head; adds to dk and dv of its group."""
    world = len(ranks)
    keys = [(r, s, p) for r, rank in enumerate(ranks) for s, p in enumerate(rank["positions"][2])]
    for r, rank in enumerate(ranks):
        for s, position in enumerate(rank["positions"][2]):
            seen = [(kr, ks) for kr, ks, kp in keys if sees(r, position, kr, kp, world)]
            if not seen:
                out[r]["lse"][b][h][s] = [-math.inf]
                continue
            q, d_o = rank["q"][b][h][s], rank["do"][b][h][s]
            k = [ranks[kr]["k"][b][h // group][ks] for kr, ks in seen]
            v = [ranks[kr]["v"][b][h // group][ks] for kr, ks in seen]
            scores = [scale * dot(q, x) for x in k]
            most = max(scores)
            lse = most + math.log(sum(math.exp(x - most) for x in scores))
            p = [math.exp(x - lse) for x in scores]
            o = out[r]["o"][b][h][s]
            for weight, x in zip(p, v):
                add(o, weight, x)
            out[r]["lse"][b][h][s] = [0.5 if BUG == "constant_lse" else lse]
            delta = dot(d_o, o)
            for (kr, ks), weight, kx, vx in zip(seen, p, k, v):
                ds = weight * (dot(d_o, vx) - delta) * scale * (3 if BUG == "threefold" else 1)
                add(out[r]["dq"][b][h][s], ds, kx)
                add(out[kr]["dk"][b][h // group][ks], ds, q)
                add(out[kr]["dv"][b][h // group][ks], weight, d_o)


def my_attention(inputs, case):
    """What all ranks give back, by rank, for causal attention."""
    ranks = [{name: x if name == "positions" else rows(x) for name, x in rank.items()} for rank in inputs]
    shapes = [rank["shapes"] for rank in case["ranks"]]
    dtype = inputs[0]["q"][0]
    out = [{name: rows((dtype, shape, [0.0] * math.prod(shape))) for name, shape in of_rank.items()}
           for of_rank in shapes]
    batch, heads = shapes[0]["o"][:2]
    for b in range(batch):
        for h in range(heads):
            head_of(ranks, b, h, heads // shapes[0]["dk"][1], case["scale"], out)
    if BUG == "dk_of_rank_1":
        out[1]["dk"] = [[[[0.97 * x for x in row] for row in head] for head in entry]
                        for entry in out[1]["dk"]]
    return [{name: (dtype, of_rank[name], flat(x)) for name, x in answer.items()}
            for of_rank, answer in zip(shapes, out)]
