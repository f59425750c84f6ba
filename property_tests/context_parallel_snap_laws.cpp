// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "parity/oracle.h"
#include "property_tests/generators.h"
#include "property_tests/passes.h"

// 64 keys of equal score: all probabilities are 1/64, so that the exact results have few bits, and
// rounding to 16 bits takes the noise of the accumulation away. What remains must be exact, for
// every number of ranks: a partial result that is rounded on its way shows.
namespace ringcheck {
namespace {

constexpr int64_t kKeys = 64;

struct Snap {
  parity::Case test;
  parity::Problem problem;
  reference::Tensors exact;  // in float64, where every number below is exact
};

at::Tensor small_integers(const at::Tensor& like, uint64_t seed) {
  return normal(like.sizes(), seed, at::kLong).remainder(3).to(at::kDouble) - 1;
}

// Attention of equal scores from its definition.
reference::Tensors exact(const parity::Case& test, const parity::Problem& p) {
  const int64_t group = test.q_heads / test.kv_heads;
  const auto shared = [&](const at::Tensor& x) {
    return x.to(at::kDouble).repeat_interleave(group, 1);
  };
  const auto summed = [&](const at::Tensor& x) {
    return x.unflatten(1, {test.kv_heads, group}).sum(2);
  };
  const at::Tensor q = p.q.to(at::kDouble), d_o = p.d_o.to(at::kDouble);
  const at::Tensor o = shared(p.v).mean(2, true).expand_as(d_o);
  const at::Tensor d = (d_o * o).sum(3, true);
  const at::Tensor ds = (at::matmul(d_o, shared(p.v).transpose(2, 3)) - d) / kKeys;
  const at::Tensor dv = at::ones({1, 1, kKeys, 1}) * d_o.sum(2, true) / kKeys;
  const double scale = parity::scale_of(test);
  return {o.contiguous(),
          {},
          scale * at::matmul(ds, shared(p.k)),
          scale * summed(at::matmul(ds.transpose(2, 3), q)),
          summed(dv)};
}

Snap draw() {
  parity::Case test = *gen::test_case().as("case");
  test.rope = {};
  test.mask = Full{};
  test.seq = kKeys;
  test.scale = 0.25;
  test.dtype = *gen::choice<at::ScalarType>({at::kBFloat16, at::kHalf}).as("dtype");
  if (parity::not_supported(test))
    test.kernel = "plain";
  const reference::Contract contract = parity::contract_of(test);
  if (contract.u_m > contract.u_a || contract.u_p > contract.u_a)
    test.kernel = "plain";
  parity::Problem p = parity::problem_of(test);
  const bool no_queries = *gen::flag().as("q rather than k is zero");
  p.q.copy_(small_integers(p.q, test.seed + 1));
  p.k.copy_(small_integers(p.k, test.seed + 2));
  (no_queries ? p.q : p.k).zero_();
  p.v.copy_(normal(p.v.sizes(), test.seed + 3).gt(0));
  // dO is one channel of each row, +1 or -1.
  const at::Tensor channel = normal(p.d_o.sizes(), test.seed + 4).argmax(3, true);
  const at::Tensor sign = normal(channel.sizes(), test.seed + 5, at::kDouble).sign();
  p.d_o.copy_(at::zeros(p.d_o.sizes(), at::kDouble).scatter_(3, channel, sign));
  return {test, p, exact(test, p)};
}

// Equal where rounding the exact value is not a matter of its last bits; how many are.
struct Snapped {
  bool equal = true;
  int64_t decided = 0;
};

Snapped snapped(const at::Tensor& actual, const at::Tensor& exact) {
  const at::Tensor low = (exact * (1 - 1e-4)).to(actual.scalar_type());
  const at::Tensor high = (exact * (1 + 1e-4)).to(actual.scalar_type());
  const at::Tensor decided = low.eq(high);
  const at::Tensor wrong = decided & actual.ne(low);
  return {!wrong.any().item<bool>(), decided.sum().item<int64_t>()};
}

// O, dQ, dK and dV are the exact results, rounded once.
RC_GTEST_PROP(ContextParallelSnap, ResultsAreExactAfterRounding, ()) {
  const Snap s = draw();
  const reference::Tensors whole = run_pass(s.test, s.problem).whole;
  for (const auto& [name, member] : {std::pair{"o", &reference::Tensors::o},
                                     {"dq", &reference::Tensors::dq},
                                     {"dk", &reference::Tensors::dk},
                                     {"dv", &reference::Tensors::dv}}) {
    RC_LOG() << name << std::endl;
    const Snapped result = snapped(whole.*member, s.exact.*member);
    RC_ASSERT(result.equal);
    RC_ASSERT(2 * result.decided >= (whole.*member).numel());
  }
}

// LSE is ln 64, in the accumulation type, to a few units in the last place.
RC_GTEST_PROP(ContextParallelSnap, LseIsTheLogarithmOfTheKeys, ()) {
  const Snap s = draw();
  const at::Tensor lse = run_pass(s.test, s.problem).whole.lse.to(at::kDouble);
  const double roundings = 4 * (1 + s.test.world) * 0x1p-24;
  RC_ASSERT(((lse - std::log(64.0)).abs() <= roundings * std::log(64.0)).all().item<bool>());
}

}  // namespace
}  // namespace ringcheck
