# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""diffusers 0.42.1 of Hugging Face (https://github.com/huggingface/diffusers): the attention of its
ContextParallelConfig, `_templated_context_parallel_attention` of `diffusers.models.attention_dispatch`.

- `ring`: K and V gathered, attended one after another, and merged; `unified`: pairs of Ulysses within such a ring.
  Their kernel is PyTorch's flash operator (`flash_operator.py` on a CPU).
- `ulysses`: with `scaled_dot_product_attention`. LSE is not returned.

Contiguous, full masks: "Causal attention is not yet supported for templated attention", nor are grouped heads. From
three ranks on dK and dV of `ring` are wrong: at step i rank r adds its gradient for the keys of rank r + i to what it
received from rank r - 1, which is the gradient for the keys of rank r - i; with two ranks these are the same. In
0.39.0 `ring` is wrong with two as well: its backward pass attends the rank's own K and V in place of the others'
(https://github.com/huggingface/diffusers/issues/14265, repaired by
https://github.com/huggingface/diffusers/pull/14274), and transposes K and V twice, which raises where a rank has not
as many slots as heads.
"""

from torch.distributed.device_mesh import init_device_mesh

import ringcheck
from ringcheck.adapters import flash_operator
from ringcheck.adapters.per_group import once_a_group


def implementation(case):
    if case.device == "cpu":
        flash_operator.provide()
    try:
        from diffusers.models import _modeling_parallel, attention_dispatch
    except ImportError as error:
        raise ImportError(f"this needs diffusers: pip install diffusers==0.42.1 ({error})") from error
    return _modeling_parallel, attention_dispatch


@once_a_group
def config(modules, group, device, ring, ulysses):
    """Their configuration over a grid of ring x ulysses; its groups are made once, as every rank has to."""
    mesh = init_device_mesh(device, (ring, ulysses), mesh_dim_names=("ring", "ulysses"))
    chosen = modules.ContextParallelConfig(ring_degree=ring, ulysses_degree=ulysses)
    chosen.setup(group.rank(), group.size(), device, mesh)
    return modules.ParallelConfig(context_parallel_config=chosen)


def attend(q, k, v, case, group, ulysses, kernel):
    modules, dispatch = implementation(case)
    heads_last = [tensor.transpose(1, 2) for tensor in (q, k, v)]
    return dispatch._templated_context_parallel_attention(
        *heads_last, scale=case.scale, return_lse=kernel == "_native_flash_attention",
        forward_op=getattr(dispatch, kernel + "_forward_op"), backward_op=getattr(dispatch, kernel + "_backward_op"),
        _parallel_config=config(modules, group, case.device, case.world // ulysses, ulysses))


def pairs(case):
    return "pairs of ranks share heads" if case.q_heads % 2 else None


SUPPORTS = dict(balance="contiguous", masks=["full"], dtypes=["bf16", "fp16", "float32"])
SEVERAL = range(2, 17)  # one rank alone is no context parallelism to diffusers


@ringcheck.subject(shows=["o", "lse", "dq", "dk", "dv"], worlds=SEVERAL, **SUPPORTS)
def ring(q, k, v, *, case, group):
    o, lse = attend(q, k, v, case, group, 1, "_native_flash_attention")
    return o.transpose(1, 2), lse.transpose(1, 2)


@ringcheck.subject(shows=["o", "lse", "dq", "dk", "dv"], worlds=range(4, 17, 2), refuses=pairs, **SUPPORTS)
def unified(q, k, v, *, case, group):
    o, lse = attend(q, k, v, case, group, 2, "_native_flash_attention")
    return o.transpose(1, 2), lse.transpose(1, 2)


@ringcheck.subject(shows=["o", "dq", "dk", "dv"], worlds=SEVERAL, heads_by_world=True, **SUPPORTS)
def ulysses(q, k, v, *, case, group):
    return attend(q, k, v, case, group, case.world, "_native_attention").transpose(1, 2)
