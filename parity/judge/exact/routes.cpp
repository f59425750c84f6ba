// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/exact/routes.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "cp/layout/shard.h"
#include "parity/judge/exact/exact.h"
#include "reference/tiles/tiles.h"

namespace ringcheck::parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The largest score of every row, and its key. scores: [batch, q_heads, rows, seq].
Routes largest(const at::Tensor& scores, double gap) {
  const auto [top, keys] = scores.topk(std::min<int64_t>(2, scores.size(3)), 3);
  const at::Tensor first = top.select(3, 0);
  if (top.size(3) > 1) {
    const at::Tensor near = (first - top.select(3, 1) <= gap) & first.isfinite();
    if (near.any().item<bool>())
      throw std::logic_error("data family routing: two scores are closer than " + std::to_string(gap));
  }
  return {keys.select(3, 0).masked_fill(first.isneginf(), 0), first};
}

// [batch, 1, rows, seq] bool.
at::Tensor hidden_pairs(const Case& test, reference::Range rows) {
  std::vector<at::Tensor> hidden;
  for (const Entries& some : entries_of(test))
    hidden.push_back(reference::visible_pairs(some.mask, rows, {0, test.seq})
                         .logical_not()
                         .expand({some.count, 1, rows.size, test.seq}));
  return at::cat(hidden);
}

// Rows of scores at a time: as many as caches hold, or fill a GPU.
int64_t rows_of_strip(const Case& test, at::Device device) {
  constexpr int64_t kMost = 256;
  constexpr int64_t kOnCpu = 1 << 21, kOnGpu = 1 << 26;  // scores
  const int64_t row = test.batch * test.q_heads * test.seq;
  return std::clamp<int64_t>((device.is_cpu() ? kOnCpu : kOnGpu) / row, 1, kMost);
}

}  // namespace

Routes routes_of(const Evidence& evidence) {
  const Case& test = evidence.test;
  const Problem& problem = evidence.problem;
  const at::Device device = problem.q.device();
  const auto wide = [](const at::Tensor& x) { return x.to(at::kDouble).nan_to_num(); };
  const at::Tensor k = wide(problem.k).repeat_interleave(test.q_heads / test.kv_heads, 1).transpose(2, 3);
  const double gap = test.dtype == at::kDouble ? 750 : 110;
  std::vector<at::Tensor> keys, scores;
  for (const reference::Range rows : reference::ranges(test.seq, rows_of_strip(test, device))) {
    const at::Tensor hidden = hidden_pairs(test, rows).to(device);
    const Routes strip =
        largest((at::matmul(wide(problem.q.narrow(2, rows.begin, rows.size)), k) * scale_of(test))
                    .masked_fill(hidden, -kInfinity), gap);
    keys.push_back(strip.key);
    scores.push_back(strip.score);
    evidence.tick();
  }
  return {at::cat(keys, 2).cpu(), at::cat(scores, 2).cpu()};
}

at::Tensor error_of_merges(const Evidence& evidence) {
  const Case& test = evidence.test;
  const at::Tensor v = for_query_heads(test, evidence.problem.v).nan_to_num();
  const at::Tensor largest = zero_pads(v, mask_of(test), {{0, test.seq}}).abs().amax({2}, true);
  return 6 * evidence.promise().contract.u_d * largest;
}

}  // namespace ringcheck::parity
