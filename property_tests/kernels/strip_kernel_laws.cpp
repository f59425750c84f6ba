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

}  // namespace
}  // namespace ringcheck
