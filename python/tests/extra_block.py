# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""extra_block.py cpu|cuda   a function that sends what it says it sends passes; the same that sends one more block by
torch.distributed, outside of both passes, fails `counters`, which names rank and bytes: over gloo, or over NCCL on two
GPUs (77: there are fewer). Needs torch, this folder's package on PYTHONPATH, and RINGCHECK_PROGRAM, as of a bundle."""

import sys

import ringcheck
import torch
from torch import distributed

FLOAT = 4
EXTRA = 256 * FLOAT  # bytes, from rank 1 to rank 0
CONTRACT = 4  # exit code of docs/cli.md


def bytes_to_each(case, rank):
    """K and V are gathered, and the gradients of all of them summed on every rank."""
    own = 2 * case.batch * case.kv_heads * case.seq // case.world * case.dim * FLOAT
    return [0 if peer == rank else own + case.world * own for peer in range(case.world)]


def attention(q, k, v, case, group):
    own = torch.stack((k, v)).detach()
    shards = [torch.empty_like(own) for _ in range(case.world)]
    distributed.all_gather(shards, own, group)
    k, v = (torch.cat([shard[which] for shard in shards], 2).requires_grad_() for which in range(2))
    o = torch.softmax(q @ k.mT * case.scale, -1) @ v
    dq, dk, dv = torch.autograd.grad(o, (q, k, v), case.d_o)
    both = torch.stack((dk, dv))
    distributed.all_reduce(both, group=group)
    slots = q.size(2)
    dk, dv = both[:, :, :, case.rank * slots:(case.rank + 1) * slots]
    return ringcheck.Result(o=o, dq=dq, dk=dk, dv=dv)


@ringcheck.subject(dtypes=["float32"], worlds=[2], sends=bytes_to_each)
def as_it_says(q, k, v, *, case, group):
    return attention(q, k, v, case, group)


@ringcheck.subject(dtypes=["float32"], worlds=[2], sends=bytes_to_each)
def one_more(q, k, v, *, case, group):
    block = torch.ones(EXTRA // FLOAT, device=q.device)
    if group.rank() == 1:
        distributed.send(block, 0, group)
    else:
        distributed.recv(block, 1, group)
    return attention(q, k, v, case, group)


@ringcheck.subject(dtypes=["float32"], worlds=[2], sends=lambda case, rank: [0])
def says_nonsense(q, k, v, *, case, group):
    return attention(q, k, v, case, group)


def judged(function, device):
    return ringcheck.verify(function, world=2, dtype="float32", seq=64, device=device, oracles="returned,parity,counters")


def check(device):
    """Throws AssertionError where it is not as it should be."""
    right = judged(as_it_says, device)
    assert right.passed, [str(one) for one in right.failures]
    wrong = judged(one_more, device)
    assert wrong.exit_code == CONTRACT, (wrong.exit_code, [str(one) for one in wrong.failures])
    (case,) = wrong.json["cases"]
    says = {rank: bytes_to_each_of(case)[rank] for rank in range(2)}
    found = {oracle["name"]: (oracle["verdict"], oracle["findings"]) for oracle in case["oracles"]}
    assert found["parity"][0] == "pass", found
    assert found["counters"] == ("fail", [
        f"rank 0 bytes received from rank 1: {says[1] + EXTRA}, expected exactly {says[1]}",
        f"rank 0 bytes received in the whole call: {says[1] + EXTRA}, expected exactly {says[1]}",
        f"rank 1 bytes sent to rank 0: {says[1] + EXTRA}, expected exactly {says[1]}",
        f"rank 1 bytes sent in the whole call: {says[1] + EXTRA}, expected exactly {says[1]}"]), found


def bytes_to_each_of(case):
    """Of each rank to the other one, from the parts of a result."""
    parts = {name: int(case["parts"][name]) for name in ("batch", "kv_heads", "seq", "dim")}
    own = parts["batch"] * parts["kv_heads"] * parts["seq"] * parts["dim"] * FLOAT  # K and V of half of the tokens
    return [own + 2 * own] * 2


def gpus():
    return torch.cuda.device_count() if torch.cuda.is_available() else 0


if __name__ == "__main__":
    if sys.argv[1] == "cuda" and gpus() < 2:
        print(f"skipped: NCCL takes a GPU a rank, 2 are needed, and there are {gpus()}")
        sys.exit(77)
    check(sys.argv[1])
    print("passed")
