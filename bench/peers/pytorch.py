#!/usr/bin/env python3
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""torchrun --standalone --nproc-per-node P bench/peers/pytorch.py --heads 32 --seq 8192,32768 --json FILE

PyTorch's own context parallelism (`torch.distributed.tensor.experimental.context_parallel`, head-tail, causal) over P
GPUs, and `scaled_dot_product_attention` on one of them, timed as ringcheck_scaling times ours, into a result of the
same form: `ringcheck report join` puts both into one file. Forward, and forward with backward; the slowest rank's
time; random data. It counts the operations that the mask shows, as cuDNN and FlashAttention do: forward
2 (D + D) a pair, backward 2.5 times as many.
"""
import argparse
import datetime
import json
import os
import time

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.experimental import _attention, context_parallel
from torch.nn import functional  # whose attention context_parallel replaces
from torch.nn.attention import SDPBackend, sdpa_kernel

KERNELS = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sizes = lambda text: [int(size) for size in text.split(",")]  # noqa: E731
    parser.add_argument("--heads", type=int, default=32, help="of queries and of keys")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--seq", type=sizes, default=[8192, 32768], help="tokens in all")
    parser.add_argument("--kernels", type=lambda text: text.split(","), default=list(KERNELS))
    parser.add_argument("--passes", type=int, default=10, help="timed, after two to warm up")
    parser.add_argument("--json", required=True)
    return parser.parse_args()


def seconds_of(run, passes):
    """Of the slowest rank, from when every rank is there until the last one is done."""
    samples = []
    for i in range(passes + 2):
        torch.cuda.synchronize()
        dist.barrier()
        begin = time.perf_counter()
        run()
        torch.cuda.synchronize()
        took = torch.tensor(time.perf_counter() - begin, device="cuda", dtype=torch.float64)
        dist.all_reduce(took, op=dist.ReduceOp.MAX)
        if i >= 2:
            samples.append(took.item())
    return samples


def measured(run_forward, run_both, parts, seq, options, devices):
    """Measurements of a forward pass, and of a forward and a backward pass."""
    operations = 2e-12 * seq * (seq + 1) * options.heads * options.dim  # 4 D a pair, half of the pairs seen
    list_ = []
    for name, run, work in (("forward_", run_forward, operations), ("", run_both, 3.5 * operations)):
        samples = seconds_of(run, options.passes)
        list_ += [{"name": f"{name}seconds", "parts": parts, "unit": "s", "samples": samples, "better": "smaller"},
                  {"name": f"{name}tflops_per_device", "parts": parts, "unit": "TFLOP/s", "better": "larger",
                   "samples": [work / took / devices for took in samples]}]
    return list_


def passes_of(q, k, v, d_o):
    def forward():
        with torch.no_grad():
            functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    def both():
        o = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        torch.autograd.grad(o, (q, k, v), d_o)

    return forward, both


def tensors(options, seq):
    """q, k, v, which require gradients, and that of the output: [1, heads, seq, dim]."""
    torch.manual_seed(1)
    q, k, v, d_o = (torch.randn(1, options.heads, seq, options.dim, device="cuda", dtype=torch.bfloat16) for _ in range(4))
    return [x.requires_grad_() for x in (q, k, v)] + [d_o]


def measurements(options, mesh):
    world = dist.get_world_size()
    for seq in options.seq:
        common = {"heads": str(options.heads), "kv_heads": str(options.heads), "seq": str(seq), "dim": str(options.dim),
                  "dim_v": str(options.dim), "dtype": "bf16", "mask": "causal", "device": "cuda", "batch": "1"}
        for kernel in options.kernels:
            with sdpa_kernel(KERNELS[kernel]):
                parts = {**common, "subject": "pytorch", "kernel": kernel, "devices": "1", "world": "1"}
                yield from measured(*passes_of(*tensors(options, seq)), parts, seq, options, 1)
                for rotation in ("allgather", "alltoall") if world > 1 else ():
                    _attention.set_rotate_method(rotation)
                    torch.cuda.empty_cache()
                    shards = [x.detach() for x in tensors(options, seq)]
                    with context_parallel(mesh, buffers=shards, buffer_seq_dims=[2] * 4, no_restore_buffers=set(shards)):
                        torch.cuda.reset_peak_memory_stats()
                        q, k, v, d_o = shards
                        own = [x.detach().requires_grad_() for x in (q, k, v)]
                        parts = {**common, "subject": "pytorch context_parallel", "kernel": kernel, "balance": "headtail",
                                 "rotation": rotation, "devices": str(world), "world": str(world)}
                        yield from measured(*passes_of(*own, d_o), parts, seq, options, world)
                    yield {"name": "peak_bytes", "parts": parts, "unit": "B", "better": "smaller",
                           "samples": [torch.cuda.max_memory_allocated()]}


def environment(world, begin):
    gpu = torch.cuda.get_device_name()
    return {"version": torch.__version__, "commit": torch.version.git_version, "libtorch": torch.__version__, "mpi": "",
            "compiler": "", "host": "", "cpu": "", "system": os.uname().sysname + " " + os.uname().machine,
            "launcher": "torchrun", "transport": "NCCL " + ".".join(map(str, torch.cuda.nccl.version())),
            "device": f"{world} x {gpu}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}",
            "command": "bench/peers/pytorch.py", "started": begin.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "cores": os.cpu_count(), "wall_seconds": (datetime.datetime.now(datetime.timezone.utc) - begin).total_seconds()}


def main():
    options, begin = parsed(), datetime.datetime.now(datetime.timezone.utc)
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl", device_id=torch.device("cuda", torch.cuda.current_device()))
    found = list(measurements(options, init_device_mesh("cuda", (dist.get_world_size(),))))
    if dist.get_rank() == 0:
        result = {"schema_version": 2, "kind": "scaling", "environment": environment(dist.get_world_size(), begin),
                  "summary": dict.fromkeys(("cases", "passed", "failed", "crash", "hang", "inconclusive",
                                            "not_supported", "skipped"), 0),
                  "cases": [], "measurements": found}
        with open(options.json + ".part", "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")
        os.replace(options.json + ".part", options.json)
        for row in found:
            if "tflops" in row["name"]:
                samples = sorted(row["samples"])
                print(f"{row['parts']['subject']:26} {row['parts']['kernel']:6} {row['parts'].get('rotation', ''):10} "
                      f"{row['parts']['seq']:>8} {row['name']:28} {samples[len(samples) // 2]:8.1f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
