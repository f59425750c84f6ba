# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""What the programs of bench/peers share: how a pass is timed, its measurements, and the result file.

They time as ringcheck_scaling does: forward, and forward with backward; the slowest rank's time; random data. They
count the operations that a causal mask shows, as cuDNN and FlashAttention do: forward 2 (D + D) a pair, backward 2.5
times as many.
"""
import argparse
import datetime
import json
import os
import time

import torch
import torch.distributed as dist

import exact
import held_back

PARTS = {"dtype": "bf16", "mask": "causal", "device": "cuda", "batch": "1"}


def parts_of(options, seq, **own):
    """What a measurement is of."""
    return {**PARTS, "heads": str(options.heads), "kv_heads": str(options.heads), "seq": str(seq), "dim": str(options.dim),
            "dim_v": str(options.dim), **own}


def parser(doc):
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    sizes = lambda text: [int(size) for size in text.split(",")]  # noqa: E731
    made.add_argument("--heads", type=int, default=32, help="of queries and of keys")
    made.add_argument("--dim", type=int, default=128)
    made.add_argument("--seq", type=sizes, default=[8192, 32768], help="tokens in all")
    made.add_argument("--passes", type=int, default=10, help="timed, after two to warm up")
    made.add_argument("--judged-heads", type=int, default=4, help="whose errors are told; 0: of none")
    made.add_argument("--heads-alone", type=int, help="that one GPU computes, for the time of all of them on it; default: all")
    made.add_argument("--json", required=True)
    return made


def tensors(options, seq, heads=None):
    """q, k, v and the gradient of the output, the same on every rank: [1, heads, seq, dim]."""
    torch.manual_seed(1)
    return [torch.randn(1, heads or options.heads, seq, options.dim, device="cuda", dtype=torch.bfloat16) for _ in range(4)]


def own_shards(cut, options, seq):
    """Those of this rank, and nothing of the rest."""
    return [cut.shard(x) for x in tensors(options, seq)]


def most(value):
    """The largest of all ranks."""
    value = torch.tensor(value, device="cuda", dtype=torch.float64)
    dist.all_reduce(value, op=dist.ReduceOp.MAX)
    return value.item()


def seconds_of(run, passes):
    """Of the slowest rank, from when every rank is there until the last one is done; and how many samples of a GPU that
    was held back were taken again: as many as are wanted at most, as of ringcheck_scaling."""
    samples, warm_up, thrown_away = [], 2, 0
    uuid = torch.cuda.get_device_properties().uuid
    while len(samples) < passes:
        torch.cuda.synchronize()
        dist.barrier()
        begin = time.perf_counter()
        run()
        torch.cuda.synchronize()
        took = most(time.perf_counter() - begin)
        if warm_up > 0:
            warm_up -= 1
        elif most(held_back.held_back(uuid) or 0) > 0 and thrown_away < passes:
            thrown_away += 1
        else:
            samples.append(took)
    return samples, thrown_away


def timed(attend, q, k, v, d_o, parts, options):
    """Measurements of `attend` on these q, k, v of a rank: its times, its rates and its peak."""
    q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
    seq, devices = int(parts["seq"]), int(parts["devices"])
    times = options.heads / q.shape[1]  # as long as some of the heads all of them take
    operations = 2e-12 * seq * (seq + 1) * options.heads * options.dim  # 4 D a pair, half of the pairs seen

    def forward():
        with torch.no_grad():
            attend(q, k, v)

    def both():
        torch.autograd.grad(attend(q, k, v), (q, k, v), d_o)

    torch.cuda.reset_peak_memory_stats()
    thrown_away = 0
    for name, run, work in (("forward_", forward, operations), ("", both, 3.5 * operations)):
        samples, again = seconds_of(run, options.passes)
        thrown_away += again
        samples = [took * times for took in samples]
        yield {"name": f"{name}seconds", "parts": parts, "unit": "s", "samples": samples, "better": "smaller"}
        yield {"name": f"{name}tflops_per_device", "parts": parts, "unit": "TFLOP/s", "better": "larger",
               "samples": [work / took / devices for took in samples]}
    yield {"name": "peak_bytes", "parts": parts, "unit": "B", "better": "smaller",
           "samples": [most(torch.cuda.max_memory_allocated())]}
    if held_back.held_back(torch.cuda.get_device_properties().uuid) is not None:
        yield {"name": "samples_thrown_away" + ("_on_one" if devices == 1 else ""), "parts": parts, "unit": "", "better": "",
               "samples": [thrown_away]}


def errors(attend, cut, problem, parts, options):
    """Measurements of the errors of `attend` against float64, on the shards of a cut. Collective."""
    *inputs, d_o = (cut.shard(x) for x in problem)
    q, k, v = (x.detach().clone().requires_grad_() for x in inputs)
    o = attend(q, k, v)
    found = [o.detach(), *torch.autograd.grad(o, (q, k, v), d_o)]
    found = [cut.whole(x)[:, :options.judged_heads] for x in found]
    if dist.get_rank() == 0:
        true = exact.attention(*(x[:, :options.judged_heads] for x in problem))
        for tensor, got, want in zip(("o", "dq", "dk", "dv"), found, true):
            yield {"name": f"error_{tensor}", "parts": parts, "unit": "", "better": "",
                   "samples": [((got - want).norm() / want.norm()).item()]}
    dist.barrier()


def environment(command, begin):
    world, gpu = dist.get_world_size(), torch.cuda.get_device_name()
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"version": torch.__version__, "commit": torch.version.git_version, "libtorch": torch.__version__, "mpi": "",
            "compiler": "", "host": "", "cpu": "", "system": os.uname().sysname + " " + os.uname().machine,
            "launcher": "torchrun", "transport": "NCCL " + ".".join(map(str, torch.cuda.nccl.version())),
            "device": f"{world} x {gpu}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}",
            "command": command, "started": begin.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "cores": os.cpu_count(), "wall_seconds": (now - begin).total_seconds()}


def run(command, options, measurements):
    """Joins the ranks of torchrun, and writes what `measurements(options)` yields, on rank 0."""
    if options.heads_alone and not 1 <= options.heads_alone <= options.heads:
        raise SystemExit(f"--heads-alone {options.heads_alone} is not from 1 to the {options.heads} heads that there are")
    begin = datetime.datetime.now(datetime.timezone.utc)
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl", device_id=torch.device("cuda", torch.cuda.current_device()))
    found = list(measurements(options))
    if dist.get_rank() == 0:
        counts = ("cases", "passed", "failed", "crash", "hang", "inconclusive", "not_supported", "skipped")
        result = {"schema_version": 2, "kind": "scaling", "environment": environment(command, begin),
                  "summary": dict.fromkeys(counts, 0), "cases": [], "measurements": found}
        with open(options.json + ".part", "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")
        os.replace(options.json + ".part", options.json)
        for row in found:
            samples, parts = sorted(row["samples"]), row["parts"]
            print(f"{parts['subject']:26} {parts['kernel']:6} {parts.get('rotation', ''):10} {parts['seq']:>8} "
                  f"{row['name']:28} {samples[len(samples) // 2]:12.4g}")
    dist.destroy_process_group()
