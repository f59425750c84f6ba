# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ringattention 0.1.2 of Hao Liu (https://github.com/haoliuhl/ringattention): the ring in plain JAX, `ring_attention`
of `ringattention_jax`, under `shard_map` over the devices of one process.

The package was written for jax 0.4: its `__init__` asks `jax.lib.xla_bridge`, which is gone. Its file is loaded
alone; flax, which it imports for a feed-forward layer, is left out.

Contiguous; full and causal masks, and documents (`segment_ids`). Its scale is 1 / sqrt(dim), its keys have as many
heads as its queries, and LSE is not returned. Logits are float32 (`float32_logits=True`); gradients come back in
float32 and are rounded here to the dtype of q.
"""
import importlib.util
import pathlib
import sys
import types

import jax
import numpy

import ringcheck

RANKS = 16
CHUNK = 16  # queries or keys of a block, where they divide


def load():
    found = importlib.util.find_spec("ringattention")
    if found is None:
        raise ImportError("this needs ringattention: pip install --no-deps ringattention==0.1.2")
    for name in ("flax", "flax.linen"):
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules["flax.linen"].partitioning = None
    path = pathlib.Path(found.submodule_search_locations[0]) / "ringattention_jax.py"
    spec = importlib.util.spec_from_file_location("ringattention_jax", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ring_attention


jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_num_cpu_devices", RANKS)
ring_attention = load()


def segments(case):
    """The number of the document of each token. [batch, seq]"""
    if not case.mask.startswith("doc"):
        return None
    lengths = [int(n) for n in case.mask[4:-1].split(",")]
    return numpy.tile(numpy.repeat(numpy.arange(len(lengths)), lengths), (case.batch, 1))


def attention(case):
    slots = case.seq // case.world
    chunk = CHUNK if slots % CHUNK == 0 else slots
    blocks = dict(causal_block_size=None if case.mask == "full" else 1, query_chunk_size=chunk, key_chunk_size=chunk,
                  deterministic=True, dropout_rng=None, attn_pdrop=0.0, dtype=jax.numpy.float32,
                  policy=jax.checkpoint_policies.nothing_saveable, precision=jax.lax.Precision.HIGHEST,
                  prevent_cse=True)
    mesh = jax.sharding.Mesh(numpy.array(jax.devices()[:case.world]), ("cp",))
    spread, everywhere = jax.sharding.PartitionSpec(None, "cp"), jax.sharding.PartitionSpec()

    def local(q, k, v, segment_ids):
        return ring_attention(q, k, v, None, segment_ids, None, "cp", True, blocks)

    sharded = jax.shard_map(local, mesh=mesh, in_specs=(spread, spread, spread, everywhere), out_specs=spread,
                            check_vma=False)
    return lambda q, k, v: sharded(q, k, v, segments(case))


def no_pads(case):
    return "documents have no pads" if ":" in case.mask else None


@ringcheck.subject(whole=True, framework="numpy", balance="contiguous", masks=["full", "causal", "doc"],
                   dtypes=["bf16", "fp16", "float32"], devices=["cpu"], worlds=range(1, RANKS + 1), scale=False,
                   shows=["o", "dq", "dk", "dv"], refuses=no_pads)
def ring(q, k, v, *, case, group=None):
    join = lambda shards: jax.numpy.asarray(numpy.concatenate(shards, axis=2).swapaxes(1, 2))  # noqa: E731
    cut = lambda tensor: numpy.split(  # noqa: E731
        numpy.asarray(tensor).astype(q[0].dtype).swapaxes(1, 2), case.world, axis=2)
    o, backward = jax.vjp(jax.jit(attention(case)), join(q), join(k), join(v))
    dq, dk, dv = backward(join(case.d_o))
    return ringcheck.Result(o=cut(o), dq=cut(dq), dk=cut(dk), dv=cut(dv))
