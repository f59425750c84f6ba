// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/diagnosis/attended.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "reference/tiles/turn.h"

namespace ringcheck::parity {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

// x [heads, seq, dim] turned by these positions, or back.
at::Tensor turned(const at::Tensor& x, const reference::Rope& rope, const at::Tensor& positions, double direction) {
  if (rope.pairing == reference::Rope::Pairing::kNone || direction == 0) return x;
  const at::Tensor angles = at::outer(positions, at::tensor(reference::frequencies(rope, x.size(2)), at::kDouble));
  const at::Tensor sines = angles.sin() * direction;
  return reference::mix_pairs(x, rope.pairing, angles.cos(), -sines, sines);
}

// exp(s - LSE), where LSE is that of the keys of the same block.
at::Tensor by_blocks(const at::Tensor& s, const at::Tensor& visible, const at::Tensor& blocks) {
  at::Tensor sum = at::zeros_like(s);
  for (int64_t block = 0; block <= blocks.max().item<int64_t>(); ++block) {
    const at::Tensor own = visible & (blocks == block);
    const at::Tensor among = s.masked_fill(~own, kNone);
    sum += at::where(own, (among - among.logsumexp(-1, true)).exp(), 0.);
  }
  return sum;
}

at::Tensor among(const at::Tensor& x, const at::Tensor& pairs) { return pairs.defined() ? x.masked_fill(~pairs, 0) : x; }

}  // namespace

reference::Tensors attended(const Attending& how) {
  const at::Tensor q = how.turn_q ? turned(how.q, how.rope, how.q_positions, 1) : how.q;
  const at::Tensor k = how.turn_k ? turned(how.k, how.rope, how.k_positions, 1) : how.k;
  const at::Tensor scores = q.matmul(k.mT()) * how.scale, s = scores.masked_fill(~how.visible, kNone);
  at::Tensor lse = s.logsumexp(-1, true);
  if (how.zero_keys > 0) lse = lse.logaddexp(at::full_like(lse, std::log(how.zero_keys)));
  const at::Tensor forward = at::where(how.visible, (s - lse).exp(), 0.), o = forward.matmul(how.v);
  const at::Tensor p = how.blocks.defined()             ? by_blocks(s, how.visible, how.blocks)
                       : how.visible_backward.defined() ? at::where(how.visible_backward, (scores - lse).exp(), 0.)
                                                        : forward;
  const at::Tensor d = (how.d_o * o).sum(-1, true) * how.of_d;
  const at::Tensor ds = p * (how.d_o.matmul(how.v.mT()) - d) * how.scale;
  reference::Tensors result{.o = o, .lse = lse.squeeze(-1), .dq = among(ds, how.in_dq).matmul(k), .dk = {}, .dv = {}};
  if (how.turn_q) result.dq = turned(result.dq, how.rope, how.q_positions, how.back);
  if (!how.own_keys) return result;
  result.dk = among(ds, how.in_dkv).mT().matmul(q).sum(0, true);
  if (how.turn_k) result.dk = turned(result.dk, how.rope, how.k_positions, how.back);
  result.dv = among(p, how.in_dkv).mT().matmul(how.d_o).sum(0, true);
  return result;
}

at::Tensor visible_pairs(const Mask& mask) {
  at::Tensor pairs = at::empty({mask.length, mask.length}, at::kBool);
  bool* pair = pairs.mutable_data_ptr<bool>();
  for (int64_t query = 0; query < mask.length; ++query)
    for (int64_t key = 0; key < mask.length; ++key) *pair++ = visible(mask, query, key);
  return pairs;
}

}  // namespace ringcheck::parity
