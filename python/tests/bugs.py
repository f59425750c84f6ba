# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ring.py with a bug, as edits of its text; the seed of a case says which."""

import pathlib
import types

import ringcheck

# Name, what stands there, what instead, the tensors that are wrong, the rank where it is one.
BUGS = [
    ("backward without scale", "- delta) * case.scale", "- delta)", "dq dk", None),
    ("mean of two LSE", "torch.logaddexp(lse, block_lse)", "torch.maximum(lse, block_lse)", "o lse", None),
    ("dK and dV stay one hop away", "dk, dv = passed_on([dk, dv], group)",
     "dk, dv = passed_on([dk, dv], group) if hop < world - 1 else (dk, dv)", "dk dv", None),
    ("mask off by one", "k_at > q_at[:, None]", "k_at >= q_at[:, None]", "o", None),
    ("last hop dropped", "for hop in range(world):\n            s = ", "for hop in range(world - 1):\n            s = ", "o lse", None),
    ("diagonal counted twice", "merged = torch.logaddexp(lse, block_lse)",
     "block_lse = block_lse + (0.6931 if hop == 0 else 0)\n            merged = torch.logaddexp(lse, block_lse)", "o lse", None),
    ("dK summed in bf16", "dk = dk + (ds.mT @ q).sum(2, keepdim=True)",
     "dk = (dk + (ds.mT @ q).sum(2, keepdim=True)).bfloat16().float()", "dk", None),
    ("stale buffer", "                k, v = passed_on([k, v], group)\n        gradients",
     "                k = passed_on([k, v], group)[0]\n        gradients", "dq dk", None),
    ("backward turns the other way", "- hop) % world) - ctx", "+ hop) % world) - ctx", "dq dk dv", None),
    ("halves swapped", "return torch.cat([rank * len(half) + half, (2 * world - 1 - rank) * len(half) + half])",
     "return torch.cat([(2 * world - 1 - rank) * len(half) + half, rank * len(half) + half])", "o", None),
    ("D of the O that was not merged", "ctx.o, ctx.lse = o, lse", "ctx.o, ctx.lse = block_o, lse", "dq dk", None),
    ("dV scaled", "(p.mT @ d_o).sum", "(case.scale * p.mT @ d_o).sum", "dv", None),
    ("dK is zero", "dk.squeeze(2), dv", "0 * dk.squeeze(2), dv", "dk", None),
    ("dQ of one rank 3 % short", "gradients = dq.flatten(1, 2)", "gradients = dq.flatten(1, 2) * (0.97 if rank == 1 else 1)", "dq", 1),
    ("NaN of empty blocks", "block_lse.nan_to_num(neginf=0.0)", "block_lse", "o", None),
    ("backward without mask", "p = torch.exp(scores(q, k, case,",
     "import dataclasses\n            p = torch.exp(scores(q, k, dataclasses.replace(case, mask='full'),", "dq dk dv", None),
    ("LSE in base 2", "return o.flatten(1, 2).to(dtype), lse", "return o.flatten(1, 2).to(dtype), 1.442695 * lse", "lse", None),
    ("wrong group of query heads", "q, k, v = q.float().unflatten(1, (k.size(1), -1))",
     "q, k, v = q.float().unflatten(1, (-1, k.size(1))).transpose(1, 2)", "o", None),
    ("positions one rank on", "places(whose, case.world", "places((whose + 1) % case.world, case.world", "o", None),
    ("sent before it is summed", "            dk = dk + (ds.mT @ q).sum(2, keepdim=True)",
     "            dk = dk + (ds.mT @ q).sum(2, keepdim=True) * (hop < world - 1)", "dk", None),
]


def planted(bug):
    """The module with the bug."""
    name, old, new, *_ = bug
    text = (pathlib.Path(__file__).parent / "ring.py").read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ValueError(f"{name}: ring.py has its text {text.count(old)} times")
    module = types.ModuleType(name)
    exec(compile(text.replace(old, new), f"ring.py with {name}", "exec"), vars(module))
    return module.ring


RINGS = [planted(bug) for bug in BUGS]


@ringcheck.subject(balance="headtail", masks=["full", "causal"], dtypes=["float32", "bf16"], devices=["cpu"],
                   gqa=True, dim_v=True, longest=4096, shows=["o", "lse", "dq", "dk", "dv"])
def ring(q, k, v, *, case, group):
    return RINGS[int(case.text.rsplit("seed", 1)[1])](q, k, v, case=case, group=group)
