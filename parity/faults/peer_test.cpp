// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/peer_test.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "parity/judge/elements/epsilon.h"

namespace ringcheck::parity {
namespace {

// [seq, seq] bool.
at::Tensor invisible_pairs(const Case& test, const Mask& mask) {
  const at::Tensor hidden = at::empty({test.seq, test.seq}, at::kBool);
  bool* pair = hidden.mutable_data_ptr<bool>();
  for (int64_t q = 0; q < test.seq; ++q)
    for (int64_t k = 0; k < test.seq; ++k) *pair++ = !visible(mask, q, k);
  return hidden;
}

// [batch, 1, seq, seq] bool.
at::Tensor invisible_pairs(const Case& test) {
  std::vector<at::Tensor> all;
  for (const Entries& some : entries_of(test))
    all.push_back(invisible_pairs(test, some.mask).expand({some.count, 1, test.seq, test.seq}));
  return at::cat(all);
}

}  // namespace

bool all_close(const at::Tensor& x, const at::Tensor& y, double atol, double rtol) {
  if (x.sizes() != y.sizes()) return false;
  const at::Tensor near = (x - y).abs() <= atol + rtol * y.abs();
  return near.logical_or(x.eq(y)).all().item<bool>();
}

double largest(const at::Tensor& x) { return x.numel() == 0 ? 0 : x.abs().max().item<double>(); }

reference::Tensors eager_attention(const Case& test, const Problem& problem) {
  const int64_t group = test.q_heads / test.kv_heads;
  const at::Tensor hidden = invisible_pairs(test).to(problem.q.device());
  const at::Tensor q = problem.q.nan_to_num(0), d_o = problem.d_o.nan_to_num(0);
  const at::Tensor k = problem.k.nan_to_num(0).repeat_interleave(group, 1);
  const at::Tensor v = problem.v.nan_to_num(0).repeat_interleave(group, 1);
  const at::Tensor scores =
      (q.matmul(k.transpose(2, 3)) * scale_of(test)).masked_fill(hidden, -INFINITY);
  const at::Tensor p = at::softmax(scores, -1).masked_fill(hidden, 0);  // rows without keys: NaN
  const at::Tensor d_p = d_o.matmul(v.transpose(2, 3));
  const at::Tensor d_s = p * (d_p - (d_p * p).sum(-1, true)) * scale_of(test);
  const auto by_kv_head = [&](const at::Tensor& x) {
    return x.unflatten(1, {test.kv_heads, group}).sum(2);
  };
  return {p.matmul(v), at::logsumexp(scores, {3}), d_s.matmul(k),
          by_kv_head(d_s.transpose(2, 3).matmul(q)), by_kv_head(p.transpose(2, 3).matmul(d_o))};
}

std::vector<reference::Tensors> perturbed_attention(const Case& test, const Problem& problem) {
  constexpr int kRuns = 3;
  at::Generator random = at::detail::createCPUGenerator(test.seed);
  const auto moved = [&](const at::Tensor& x) {
    const at::Tensor xi = at::rand(x.sizes(), random, at::kDouble).mul_(2).sub_(1).to(x.device());
    return (x.to(at::kDouble) * (1 + epsilon_of(test.dtype) * xi)).to(x.scalar_type());
  };
  std::vector<reference::Tensors> runs;
  for (int run = 0; run < kRuns; ++run)
    runs.push_back(eager_attention(
        test, {moved(problem.q), moved(problem.k), moved(problem.v), moved(problem.d_o)}));
  return runs;
}

}  // namespace ringcheck::parity
