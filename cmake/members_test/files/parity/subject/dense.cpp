// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The subject "dense": all scores of the whole sequence in float64, in one process, without a kernel
// of ours.
#include <ATen/ATen.h>

#include <cmath>

#include "cp/layout/shard.h"
#include "parity/subject/subject.h"

namespace ringcheck::parity {
namespace {

class Dense final : public WholeSubject {
 public:
  std::optional<std::string> refuses(const Case& test) const override {
    if (test.rope.pairing == Rope::Pairing::kNone) return std::nullopt;
    return "subject dense does not rotate q and k; use rope none";
  }

  // Of the plainest kernel, which rounds more often.
  Promise promise(const Case& test) const override {
    Case plain = test;
    plain.kernel = Case{}.kernel;
    Promise promise;
    promise.contract = contract_of(plain);
    promise.deterministic = true;
    return promise;
  }

  std::vector<RankOutput> solve(const Case& test,
                                const std::vector<RankInput>& inputs) const override {
    const Mask mask = mask_of(test);
    std::vector<Positions> layout;
    for (const RankInput& input : inputs) layout.push_back(input.positions);
    const auto whole = [&](at::Tensor Problem::*tensor) {
      std::vector<at::Tensor> shards;
      for (const RankInput& input : inputs) shards.push_back(input.local.*tensor);
      const at::Tensor all = unshard(shards, 2, layout, test.seq);
      return zero_pads(all, mask, {{0, test.seq}}).to(at::kDouble);
    };
    const RankOutput all =
        attention(whole(&Problem::q), whole(&Problem::k), whole(&Problem::v), whole(&Problem::d_o),
                  mask, scale_of(test));
    std::vector<RankOutput> ranks;
    for (const Positions& positions : layout) ranks.push_back(cut(all, positions, test));
    return ranks;
  }

 private:
  static RankOutput attention(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                              const at::Tensor& d_o, const Mask& mask, double scale) {
    const int64_t group = q.size(1) / keys.size(1);
    const at::Tensor k = keys.repeat_interleave(group, 1), v = values.repeat_interleave(group, 1);
    const at::Tensor hidden = at::empty({q.size(2), q.size(2)}, at::kBool);
    auto hides = hidden.accessor<bool, 2>();
    for (int64_t i = 0; i < q.size(2); ++i)
      for (int64_t j = 0; j < q.size(2); ++j) hides[i][j] = !visible(mask, i, j);
    const at::Tensor s =
        (at::matmul(q, k.transpose(2, 3)) * scale).masked_fill(hidden, -INFINITY);
    const at::Tensor lse = s.logsumexp(-1);
    const at::Tensor p = (s - lse.masked_fill(lse.isneginf(), 0).unsqueeze(-1)).exp();
    const at::Tensor o = at::matmul(p, v);
    const at::Tensor dp = at::matmul(d_o, v.transpose(2, 3));
    const at::Tensor ds = p * (dp - (d_o * o).sum(-1, true)) * scale;
    const auto by_key_head = [&](const at::Tensor& x) {
      return x.view({x.size(0), keys.size(1), group, x.size(2), x.size(3)}).sum(2);
    };
    RankOutput all;
    all.o = o;
    all.lse = lse;
    all.dq = at::matmul(ds, k);
    all.dk = by_key_head(at::matmul(ds.transpose(2, 3), q));
    all.dv = by_key_head(at::matmul(p.transpose(2, 3), d_o));
    return all;
  }

  // The slots of a rank, rounded once; those behind the end are empty.
  static RankOutput cut(const RankOutput& all, const Positions& positions, const Case& test) {
    RankOutput own;
    for (const auto tensor : {&RankOutput::o, &RankOutput::dq, &RankOutput::dk, &RankOutput::dv})
      own.*tensor = shard(all.*tensor, 2, positions).to(test.dtype);
    own.lse = shard(all.lse, 2, positions).to(accumulation_type(test.dtype));
    int64_t slot = 0;
    for (const int64_t position : flatten(positions)) {
      if (position >= test.seq) own.lse.select(2, slot).fill_(-INFINITY);
      ++slot;
    }
    return own;
  }
};

const Subjects::Add registered{"dense", [](const std::vector<std::string>& arguments) {
  if (!arguments.empty())
    throw BadCase("subject dense takes no arguments, got '" + arguments.front() +
                  "'; say dense alone");
  return std::make_shared<Dense>();
}};

}  // namespace
}  // namespace ringcheck::parity
