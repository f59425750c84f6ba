// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <limits>

#include "reference/attention.h"
#include "reference/tiles/tiles.h"

namespace ringcheck::reference {

Tensors naive_attention(const Inputs& in) {
  const Range all{0, in.mask.length};
  const at::Tensor seen = visible_pairs(in.mask, all, all).to(in.q.device());  // [seq, seq]
  const at::Tensor token = seen.any(0).logical_or(seen.any(1)).unsqueeze(1);   // [seq, 1]
  const int64_t shared = in.q.size(1) / in.k.size(1);
  const auto exact = [&](const at::Tensor& x) { return at::where(token, x.to(at::kDouble), 0.); };
  const at::Tensor q = exact(in.q), d_o = exact(in.d_o);
  const at::Tensor k = exact(in.k).repeat_interleave(shared, 1);
  const at::Tensor v = exact(in.v).repeat_interleave(shared, 1);
  const auto sum_of_shared = [&](const at::Tensor& x) {
    return x.view({x.size(0), -1, shared, x.size(2), x.size(3)}).sum(2);
  };

  const at::Tensor s =
      (q.matmul(k.mT()) * in.scale).masked_fill(~seen, -std::numeric_limits<double>::infinity());
  const at::Tensor lse = s.logsumexp(-1, true);
  const at::Tensor p = at::where(seen, (s - lse).exp(), 0.);
  const at::Tensor o = p.matmul(v);
  const at::Tensor ds = p * (d_o.matmul(v.mT()) - (d_o * o).sum(-1, true));
  return {.o = o,
          .lse = lse.squeeze(-1),
          .dq = ds.matmul(k) * in.scale,
          .dk = sum_of_shared(ds.mT().matmul(q) * in.scale),
          .dv = sum_of_shared(p.mT().matmul(d_o))};
}

}  // namespace ringcheck::reference
