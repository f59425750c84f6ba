// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The conservation laws hold for correct attention and only for that.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>

#include "cp/shard.h"
#include "parity/comparison.h"
#include "parity/conservation.h"
#include "parity/contract.h"
#include "property_tests/emulated_ring.h"
#include "property_tests/generators.h"
#include "property_tests/passes.h"
#include "property_tests/reference_problems.h"

namespace ringcheck {
namespace {

using parity::AttentionShard;
using parity::conservation_sums;
using parity::ConservationSums;
using parity::LawVerdict;
using parity::Status;
using reference_testing::Arithmetic;
using reference_testing::Family;
using reference_testing::Mistake;

const std::vector<Arithmetic> kArithmetics{{"bf16", at::kBFloat16, at::kFloat, true, false},
                                           {"fp16", at::kHalf, at::kFloat, true, false},
                                           {"bf16 partials", at::kBFloat16, at::kFloat, true, true},
                                           {"fp32", at::kFloat, at::kFloat, false, false},
                                           {"fp64", at::kDouble, at::kDouble, false, false}};

AttentionShard shard_of(const reference::Inputs& in, const reference::Tensors& out) {
  const auto tokens = [&](const at::Tensor& x) {
    return zero_pads(x, in.mask, {{0, in.mask.length}});
  };
  return {tokens(in.q), tokens(in.d_o), out.o,  out.dq,           tokens(in.k),
          tokens(in.v), out.dk,         out.dv, out.lse.isneginf()};
}

// As `guard` judges: nothing is known of the implementation but its dtype.
std::vector<LawVerdict> judged(const AttentionShard& shard, const reference::Inputs& in,
                               at::ScalarType dtype) {
  return judge_conservation(conservation_sums(shard),
                            {parity::loosest_contract({dtype}), in.scale, 64});
}

double worst(const std::vector<LawVerdict>& laws) {
  double z = 0;
  for (const LawVerdict& law : laws)
    z = std::max(z, law.z);
  return z;
}

// Sums of two parts are the sums of the whole, whichever way the slots are dealt, up to the
// rounding of float64 additions.
RC_GTEST_PROP(Conservation, SumsOfShardsAreSumsOfTheWhole, ()) {
  const gen::Cut cut = *gen::cut();
  const reference::Inputs in = reference_testing::draw(
      {.seq = cut.length()}, {Full{}, cut.length()}, *gen::seed());
  const AttentionShard all = shard_of(in, reference::naive_attention(in));
  const ConservationSums whole = conservation_sums(all);
  ConservationSums sums;
  for (const Positions& own : cut.layout()) {
    const auto slots = [&](const at::Tensor& x) { return shard(x, 2, own); };
    sums = sums + conservation_sums({slots(all.q), slots(all.d_o), slots(all.o), slots(all.dq),
                                     slots(all.k), slots(all.v), slots(all.dk), slots(all.dv),
                                     slots(all.empty_rows)});
  }
  const auto equal = [](const at::Tensor& a, const at::Tensor& b, const at::Tensor& squares) {
    return (a - b).abs().le(1e-12 * (1 + squares.sqrt() * 32)).all().item<bool>();
  };
  RC_ASSERT(equal(sums.dv, whole.dv, whole.dv_squares));
  RC_ASSERT(equal(sums.d_o, whole.d_o, whole.d_o_squares));
  RC_ASSERT(equal(sums.dk, whole.dk, whole.dk_squares));
  RC_ASSERT(equal(sums.dq_q, whole.dq_q, whole.dq_q_squares));
  RC_ASSERT(equal(sums.dv_v, whole.dv_v, whole.dv_v_squares));
  RC_ASSERT(sums.k_largest.equal(whole.k_largest));
  RC_ASSERT(sums.queries >= whole.queries);  // pad slots are counted, and add nothing else
}

// A correct implementation: every rounding of kernels that exist, every mask and world.
RC_GTEST_PROP(Conservation, CorrectAttentionKeepsTheLaws, ()) {
  const Arithmetic arithmetic = *gen::choice(kArithmetics);
  const int64_t length = *gen::between(20, 160);
  const auto masks = reference_testing::masks(length);
  const Mask mask = masks[*gen::between(0, static_cast<int64_t>(masks.size()) - 1)].second;
  const auto family = reference_testing::kFamilies[*gen::between(0, 8)];
  const reference::Inputs in = reference_testing::draw(
      {.batch = 2, .seq = length, .dim = 8 * *gen::between(1, 8), .dim_v = 4 * *gen::between(1, 16)},
      mask, *gen::seed(), family, arithmetic.storage);
  const int world = *gen::world();
  const auto found = emulated_ring(in, arithmetic, world);
  const auto laws = judged(shard_of(in, found), in, arithmetic.storage);
  for (const LawVerdict& law : laws)
    RC_ASSERT(law.status != Status::kFail);
}

reference::Inputs example(at::ScalarType storage, uint64_t seed) {
  return reference_testing::draw({.seq = 256, .dim = 64, .dim_v = 64}, {Causal{}, 256}, seed,
                                 Family::kNormal, storage);
}

// Every mistake that is not another valid attention breaks a law, in every arithmetic.
TEST(Conservation, MistakesBreakALaw) {
  for (const Arithmetic& arithmetic : kArithmetics)
    for (const Mistake mistake : reference_testing::kMistakes) {
      const reference::Inputs in = example(arithmetic.storage, 5);
      const auto found = emulated_ring(in, arithmetic, 4, mistake);
      const auto laws = judged(shard_of(in, found), in, arithmetic.storage);
      EXPECT_GT(worst(laws), parity::kStat) << name_of(mistake) << " in " << arithmetic.name;
      std::string figures;
      for (const LawVerdict& law : laws) figures += law.law + " " + std::to_string(law.z) + "  ";
      printf("%-14s %-22s %s\n", arithmetic.name.c_str(), name_of(mistake), figures.c_str());
    }
}

}  // namespace
}  // namespace ringcheck
