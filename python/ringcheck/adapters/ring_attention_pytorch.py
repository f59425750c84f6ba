# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""ring-attention-pytorch 0.5.20 of lucidrains (https://github.com/lucidrains/ring-attention-pytorch): its function in
plain PyTorch, `ring_flash_attn`, and `zig_zag_attn`, the all-gather of K and V.

- `ring`: contiguous, full and causal; `striped`: striped[1], causal, one bucket a rank. The default process group. dK
  and dV are wrong: in the backward pass `dk, dv = ring_pass(...)` takes what that returns, a buffer received and one
  sent, each of which holds dK and dV, for dK and for dV; autograd then sums either over its first axis. float32 only:
  bf16 raises, as softmax weights are float32 there and v is not.
- `zigzag`: head-tail, full and causal. dK and dV are wrong: its all-gather hands a rank its own part of the gradient
  alone and sums nothing over the ranks.

The scale is 1 / sqrt(dim) in all of them; another one is refused. Query head h attends key head h modulo the number
of key heads: heads are reordered here, before and after. O is accumulated in the dtype of q. LSE is not returned.
Look-back is by whole buckets, which is no sliding window, and not offered. A ring of one rank sends to itself:
refused.
"""
import ringcheck


def implementation():
    try:
        from ring_attention_pytorch import distributed, ring_flash_attention, zig_zag_attention
    except ImportError as error:
        raise ImportError("this needs ring-attention-pytorch: pip install ring-attention-pytorch==0.5.20 "
                          f"({error})") from error
    for remembered in (distributed.get_rank, distributed.get_world_size, distributed.is_distributed):
        remembered.cache_clear()
    return ring_flash_attention.ring_flash_attn, zig_zag_attention.zig_zag_attn


def swap(tensor, outer):
    """Heads as [outer, inner] become [inner, outer]."""
    return tensor.unflatten(1, (outer, -1)).transpose(1, 2).flatten(1, 2)


def attend(q, k, v, case, **options):
    function, _ = implementation()
    heads_last = [tensor.transpose(1, 2).contiguous() for tensor in (swap(q, case.kv_heads), k, v)]
    o = function(*heads_last, causal=case.mask == "causal", ring_reduce_col=True, ring_size=case.world, **options)
    return swap(o.transpose(1, 2), case.q_heads // case.kv_heads)


SUPPORTS = dict(gqa=True, scale=False, worlds=range(2, 17), longest=4096, shows=["o", "dq", "dk", "dv"])


@ringcheck.subject(balance="contiguous", masks=["full", "causal"], dtypes=["float32"], **SUPPORTS)
def ring(q, k, v, *, case, group):
    slots = q.shape[2]
    return attend(q, k, v, case, bucket_size=slots // 2 if slots % 2 == 0 else slots)


@ringcheck.subject(balance="striped[1]", masks=["causal"], dtypes=["float32"], **SUPPORTS)
def striped(q, k, v, *, case, group):
    return attend(q, k, v, case, bucket_size=q.shape[2], striped_ring_attn=True)


@ringcheck.subject(balance="headtail", masks=["full", "causal"], dtypes=["bf16", "fp16", "float32"], **SUPPORTS)
def zigzag(q, k, v, *, case, group):
    _, function = implementation()
    mask = None
    if case.mask == "causal":
        chunk = case.seq // (2 * case.world)
        order = [c * chunk + i for r in range(case.world) for c in (r, 2 * case.world - 1 - r) for i in range(chunk)]
        mask = case.positions.to(q.device)[:, None] >= case.positions.new_tensor(order).to(q.device)
    return swap(function(swap(q, case.kv_heads), k, v, attn_mask=mask), case.q_heads // case.kv_heads)
