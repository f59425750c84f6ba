// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/cp/rotation/emulated_ring.h"

#include <ATen/ATen.h>

#include <limits>
#include <ostream>
#include <vector>

#include "reference/tiles/tiles.h"

namespace ringcheck::reference_testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The format's unit roundoff and half of its smallest subnormal.
struct Format {
  double u, eta;
};
Format format_of(at::ScalarType type) {
  switch (type) {
    case at::kBFloat16:
      return {0x1p-8, 0x1p-134};
    case at::kHalf:
      return {0x1p-11, 0x1p-25};
    case at::kFloat:
      return {0x1p-24, 0x1p-150};
    default:
      return {0x1p-53, 0};
  }
}

struct Partial {
  at::Tensor o, lse;  // [batch, q_heads, rows, dim_v], [batch, q_heads, rows, 1]
};

at::Tensor without_zeros(const at::Tensor& x) { return x.masked_fill(x == 0, 1); }

Partial merge(const Partial& a, const Partial& b) {
  const at::Tensor top = at::maximum(a.lse, b.lse);
  const at::Tensor shift = top.masked_fill(top == -kInfinity, 0);
  const at::Tensor wa = (a.lse - shift).exp(), wb = (b.lse - shift).exp();
  return {(wa * a.o + wb * b.o) / without_zeros(wa + wb), shift + (wa + wb).log()};
}

// The same by differences, as PyTorch's ring and flash-attn's users do.
Partial merge_by_differences(const Partial& a, const Partial& b) {
  const at::Tensor o = a.o - at::sigmoid(b.lse - a.lse) * (a.o - b.o);
  const at::Tensor lse = a.lse - at::log_sigmoid(a.lse - b.lse);
  const at::Tensor only_a = b.lse == -kInfinity, only_b = a.lse == -kInfinity;
  return {at::where(only_b, b.o, at::where(only_a, a.o, o)),
          at::where(only_b, b.lse, at::where(only_a, a.lse, lse))};
}

class EmulatedRing {
 public:
  EmulatedRing(const reference::Inputs& in, const Arithmetic& arithmetic, int world, Mistake mistake)
      : arithmetic_(arithmetic),
        mistake_(mistake),
        scale_(in.scale),
        shared_(in.q.size(1) / in.k.size(1)) {
    const reference::Range all{0, in.mask.length};
    const at::Tensor seen = reference::visible_pairs(in.mask, all, all);
    const at::Tensor token = (seen.any(0) | seen.any(1)).unsqueeze(1);
    const auto shards = [&](const at::Tensor& x, int64_t heads) {
      const at::Tensor wide = at::where(token, x, 0.).to(arithmetic.accumulation);
      return wide.repeat_interleave(heads, 1).tensor_split(world, 2);
    };
    q_ = shards(in.q, 1), d_o_ = shards(in.d_o, 1);
    k_ = shards(in.k, shared_), v_ = shards(in.v, shared_);
    for (const at::Tensor& rows : seen.tensor_split(world, 0))
      hidden_.push_back(rows.logical_not().tensor_split(world, 1));
  }

  reference::Tensors run() {
    const size_t world = q_.size();
    std::vector<at::Tensor> o(world), lse(world), dq(world), dk(world), dv(world);
    for (size_t rank = 0; rank < world; ++rank) {
      const Partial result = forward(rank);
      o[rank] = stored(result.o), lse[rank] = result.lse;
      if (mistaken(Mistake::kZeroedRank) && rank == world - 1)
        o[rank].zero_();
      if (mistaken(Mistake::kNarrowLse))
        lse[rank] = lse[rank].to(at::kBFloat16).to(arithmetic_.accumulation);
    }
    // dK and dV of an owner meet the ranks from the owner on, dQ of a rank the owners from it down:
    // in either sum, one hop after the other.
    for (size_t hop = 0; hop < world; ++hop)
      for (size_t owner = 0; owner < world; ++owner) {
        const size_t rank = (owner + hop) % world;
        const Gradients part = backward(rank, owner, o[rank], lse[rank]);
        if (!(mistaken(Mistake::kLostQueryGradient) && hop == 1 && rank == world - 1))
          add(dq[rank], part.dq);
        const bool last = hop == world - 1 && owner == 0;
        if (mistaken(Mistake::kLostGradientHop) && last)
          continue;
        if (mistaken(Mistake::kCopiedGradientHop) && last)
          dk[owner].reset(), dv[owner].reset();
        add(dk[owner], part.dk);
        add(dv[owner], part.dv);
      }
    for (auto* gradient : {&dq, &dk, &dv})
      for (at::Tensor& x : *gradient)
        x = x * gradient_factor();
    if (mistaken(Mistake::kZeroQueryGradient))
      for (at::Tensor& x : dq)
        x.zero_();
    const auto whole = [&](const std::vector<at::Tensor>& x) { return at::cat(x, 2); };
    const auto exact = [](const at::Tensor& x) { return x.to(at::kDouble); };
    return {exact(whole(o)), exact(whole(lse).squeeze(-1)), exact(stored(whole(dq))),
            exact(stored(of_kv_heads(whole(dk)))), exact(stored(of_kv_heads(whole(dv))))};
  }

 private:
  struct Gradients {
    at::Tensor dq, dk, dv;
  };

  bool mistaken(Mistake what) const { return mistake_ == what; }
  double gradient_factor() const {
    const double world = static_cast<double>(q_.size());
    return mistaken(Mistake::kGradientsTimesWorld)  ? world
           : mistaken(Mistake::kGradientsOverWorld) ? 1 / world
                                                    : 1;
  }

  at::Tensor scores(size_t rank, size_t owner) const {
    return (q_[rank].matmul(k_[owner].mT()) * scale_).masked_fill(hidden_[rank][owner], -kInfinity);
  }

  Partial forward(size_t rank) const {
    const size_t world = q_.size();
    Partial acc{at::zeros_like(d_o_[rank]), at::full_like(q_[rank].narrow(-1, 0, 1), -kInfinity)};
    for (size_t hop = 0; hop < world; ++hop) {
      const size_t owner = (rank + world - hop) % world;
      const bool lost = mistaken(Mistake::kLostForwardBlock) && rank == world - 1 && owner == 0;
      if (k_[owner].size(2) == 0 || lost)
        continue;
      const at::Tensor s = scores(rank, owner), top = s.amax(-1, true);
      const at::Tensor shift = top.masked_fill(top == -kInfinity, 0);
      const at::Tensor e = (s - shift).exp(), sum = e.sum(-1, true);
      const Partial block{operand(e).matmul(v_[owner]) / without_zeros(sum), shift + sum.log()};
      acc = arithmetic_.differences ? merge_by_differences(acc, block) : merge(acc, block);
    }
    return acc;
  }

  // LSE and O of a row as backward sees them: of all its keys, or wrongly of one block's.
  Partial saved(size_t rank, size_t owner, const at::Tensor& o, const at::Tensor& lse) const {
    const bool local_lse = mistaken(Mistake::kLocalLse), local_d = mistaken(Mistake::kLocalD);
    if (!local_lse && !local_d)
      return {o, lse};
    const size_t seen = local_d ? rank : owner;
    const at::Tensor s = scores(rank, seen), block = s.logsumexp(-1, true);
    const at::Tensor p = (s - block.masked_fill(block == -kInfinity, kInfinity)).exp();
    return {local_d ? p.matmul(v_[seen]) : o, local_lse ? block : lse};
  }

  Gradients backward(size_t rank, size_t owner, const at::Tensor& o, const at::Tensor& lse) const {
    const bool stale = mistaken(Mistake::kStaleKv) && rank == q_.size() - 1 && owner != rank;
    const size_t block = stale ? owner + 1 : owner;
    const Partial row = saved(rank, owner, o, lse);
    const at::Tensor d =
        (d_o_[rank] * row.o).sum(-1, true) * (mistaken(Mistake::kZeroD) ? 0. : 1.);
    const at::Tensor s =
        (q_[rank].matmul(k_[block].mT()) * scale_).masked_fill(hidden_[rank][owner], -kInfinity);
    const at::Tensor p = (s - row.lse.masked_fill(row.lse == -kInfinity, kInfinity)).exp();
    const at::Tensor ds = operand(p * (d_o_[rank].matmul(v_[block].mT()) - d));
    return {partial(ds.matmul(k_[block]) * scale_), partial(ds.mT().matmul(q_[rank]) * scale_),
            partial(operand(p).mT().matmul(d_o_[rank]))};
  }

  static void add(at::Tensor& sum, const at::Tensor& x) { sum = sum.defined() ? sum + x : x; }

  at::Tensor of_kv_heads(const at::Tensor& x) const {
    const at::Tensor grouped = x.view({x.size(0), -1, shared_, x.size(2), x.size(3)});
    return mistaken(Mistake::kUnreducedHeads) ? grouped.select(2, 0) : grouped.sum(2);
  }
  at::Tensor stored(const at::Tensor& x) const {
    return x.to(arithmetic_.storage).to(arithmetic_.accumulation);
  }
  at::Tensor operand(const at::Tensor& x) const {
    return arithmetic_.narrow_operands ? stored(x) : x;
  }
  at::Tensor partial(const at::Tensor& x) const {
    return arithmetic_.narrow_partials ? stored(x) : x;
  }

  const Arithmetic& arithmetic_;
  Mistake mistake_;
  double scale_;
  int64_t shared_;
  std::vector<at::Tensor> q_, k_, v_, d_o_;      // by rank
  std::vector<std::vector<at::Tensor>> hidden_;  // by rank and owner
};

}  // namespace

reference::Contract Arithmetic::contract() const {
  const Format store = format_of(storage), sum = format_of(accumulation);
  const Format operands = narrow_operands ? store : Format{0, 0};
  return {.u_a = sum.u,
          .u_p = operands.u,
          .eta_p = operands.eta,
          .u_o = store.u,
          .eta_o = store.eta,
          .eta_e = accumulation == at::kDouble ? 0x1p-1022 : 0x1p-126,
          .u_in = 0,
          .u_m = narrow_partials ? store.u : sum.u,
          .kappa = 1,
          .c_e = 4,
          .u_d = differences ? sum.u : 0};
}

const char* name_of(Mistake mistake) {
  constexpr const char* kNames[] = {
      "none",           "lost forward block", "stale K and V",        "local LSE",
      "local D",        "D = 0",              "lost gradient hop",    "copied gradient hop",
      "lost dQ hop",    "dQ = 0",             "LSE in bf16",          "zeroed rank",
      "gradients x P",  "gradients / P",      "unreduced query heads"};
  return kNames[static_cast<int>(mistake)];
}

void PrintTo(const Arithmetic& arithmetic, std::ostream* os) { *os << arithmetic.name; }

reference::Tensors emulated_ring(const reference::Inputs& inputs, const Arithmetic& arithmetic,
                                 int world, Mistake mistake) {
  return EmulatedRing(inputs, arithmetic, world, mistake).run();
}

}  // namespace ringcheck::reference_testing
