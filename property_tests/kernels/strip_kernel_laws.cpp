// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What calls a library strip by strip: the same as a kernel that knows every mask.
#include "kernels/strip_kernel.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "parity/case/case.h"
#include "property_tests/kernels/kernel_blocks.h"
#include "property_tests/kernels/strip_library.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

using Kind = Strip::Kind;

struct Block {
  Mask mask;
  Positions queries, keys;
  Visibility visibility() const { return {mask, queries, keys}; }
};

// The queries [m, m + n) of a window behind the keys [0, m).
Block rear_edge(int64_t m, int64_t n, int64_t width) { return {{Window{width}, m + n}, {{m, n}}, {{0, m}}}; }

Block drawn_block() {
  if (*rc::gen::arbitrary<bool>().as("rear edge of a window")) {
    const int64_t m = *gen::between(1, 9).as("keys"), n = *gen::between(1, 9).as("queries");
    return rear_edge(m, n, *gen::between(1, m + n).as("width"));
  }
  const parity::Case test = *gen::test_case().as("case");
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  const auto shard = [&](const char* name) { return layout[*gen::between(0, test.world - 1).as(name)]; };
  const Positions queries = shard("queries of"), keys = shard("keys of");
  return {parity::mask_of(test), queries, keys};
}

// Which result of the library is not that of `plain`, if any.
std::string difference(const Block& block, double scale, uint64_t seed) {
  const auto drawn = [&](const Positions& of, uint64_t salt) {
    return normal({2, 1, count(of), 4}, seed + salt, at::kDouble);
  };
  const QBlock q{drawn(block.queries, 1), block.queries};
  const KvBlock kv = apart(drawn(block.keys, 2), drawn(block.keys, 3), block.keys);
  const at::Tensor d_o = drawn(block.queries, 4);
  const Scores scores{block.mask, scale};
  const Visibility visibility = visibility_of(q, kv, scores);

  const StripLibrary library;
  const AttentionKernel& plain = *AttentionKernels::at("plain");
  const Partial whole = plain.forward(q, kv, scores, visibility), part = library.forward(q, kv, scores, visibility);
  const Saved saved = saved_of(whole, d_o);
  const Gradients want = plain.backward(q, kv, saved, scores, visibility);
  const Gradients got = library.backward(q, kv, saved, scores, visibility);
  for (const auto& [name, a, b] : {std::tuple{"O", part.out, whole.out}, {"LSE", part.lse, whole.lse},
                                   {"dQ", got.dq, want.dq}, {"dK", got.dk, want.dk}, {"dV", got.dv, want.dv}})
    if (!at::allclose(a, b, 1e-11, 1e-11)) return name;
  return "";
}

RC_GTEST_PROP(StripKernel, CallsMakeTheBlock, ()) {
  const Block block = drawn_block();
  RC_ASSERT(difference(block, *rc::gen::element(0.5, -2.0, 0.0).as("scale"), *gen::seed().as("seed")) == "");
}

// Every rear edge of some size: alone and beside other strips, with as many keys as queries and with more.
TEST(StripKernel, RearEdgesOfWindows) {
  int alone = 0, beside = 0, square = 0, wider = 0;
  for (int64_t m = 1; m <= 5; ++m)
    for (int64_t n = 1; n <= 5; ++n)
      for (int64_t width = 1; width <= m + n; ++width) {
        const Block block = rear_edge(m, n, width);
        const Visibility visibility = block.visibility();
        for (const Strip& strip : visibility.strips()) {
          if (strip.kind != Kind::kMirrored) continue;
          ++(strip.rows == n && strip.columns == m ? alone : beside);
          ++(strip.rows == strip.columns ? square : wider);
        }
        for (const double scale : {0.5, -2.0, 0.0})
          EXPECT_EQ(difference(block, scale, 1), "") << m << " keys, " << n << " queries, width " << width;
      }
  EXPECT_GT(std::min({alone, beside, square, wider}), 0);
}

// A library that returns O of some strips in float32 and of others in float64.
class OfTwoDtypes : public StripLibrary {
 public:
  mutable int calls = 0;
  using StripLibrary::by_members;

 protected:
  Partial attend(const Call& call) const override {
    const Partial part = StripLibrary::attend(call);
    return {at::full_like(part.out, 1.0 / 3).to(calls++ == 0 ? at::kFloat : at::kDouble), part.lse};
  }
};

// The rows of a strip keep the digits that the library gave them.
TEST(StripKernel, TheWidestDtypeOfItsStripsIsThatOfTheBlock) {
  const Positions queries{{0, 2}, {6, 2}}, keys{{0, 8}};
  const auto drawn = [](const Positions& of, uint64_t seed) { return normal({1, 1, count(of), 4}, seed, at::kDouble); };
  const QBlock q{drawn(queries, 1), queries};
  const KvBlock kv = apart(drawn(keys, 2), drawn(keys, 3), keys);
  const Scores scores{{Causal{}, 8}, 1};
  const OfTwoDtypes library;
  const Partial part = library.forward(q, kv, scores, visibility_of(q, kv, scores));
  ASSERT_EQ(library.calls, 2);
  EXPECT_EQ(part.out.scalar_type(), at::kDouble);
  EXPECT_TRUE(part.out.narrow(2, 2, 2).eq(1.0 / 3).all().item<bool>());
}

// 256 and seven ones, which bf16 would make 264.
TEST(StripKernel, MembersOfAQueryGroupAreAddedUpWide) {
  constexpr int64_t kGroup = 8;
  const at::Tensor q = at::ones({1, kGroup, 3, 2}, at::kBFloat16), k = at::ones({1, 1, 3, 2}, at::kBFloat16);
  const Saved saved{q, at::ones({1, kGroup, 3}), q, at::ones({1, kGroup, 3})};
  const Gradients sum = OfTwoDtypes::by_members(
      {{}, 1, q, k, k}, saved, [&](const auto& each, const Saved&, const at::Tensor& dq) {
        dq.fill_(1);
        const at::Tensor term = at::ones(each.k.sizes(), at::kBFloat16);
        term[0].fill_(256);
        return Gradients{dq, term, term};
      });
  EXPECT_TRUE(sum.dk.eq(263).all().item<bool>());
  EXPECT_TRUE(sum.dv.eq(263).all().item<bool>());
}

}  // namespace
}  // namespace ringcheck
