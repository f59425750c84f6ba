// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cli/process/folder.h"
#include "cp/layout/shard.h"
#include "parity/case/data_family.h"
#include "parity/case/devices/on_device.h"
#include "parity/case/problem.h"
#include "parity/case/safetensors.h"
#include "property_tests/parity/oracles/exact_cases.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"
#include "property_tests/test_device.h"

namespace ringcheck {
namespace {

using parity::Case;
using parity::Problem;

at::Tensor tokens_only(const Case& test, const at::Tensor& x, const Positions& positions) {
  return zero_pads(x, parity::mask_of(test), positions);
}

// What a rank generates for itself is its shard of the whole: values depend on the global
// position, not on world or balancer.
RC_GTEST_PROP(Problem, IsTheSameHoweverItIsCut, ()) {
  const Case test = *gen::exact_case(*gen::name_of<parity::DataFamilies>());
  const Positions all{{0, test.seq}};
  const Problem whole = parity::problem_of(test);
  for (const Positions& own : parity::layout_of(test).queries) {
    const Problem local = parity::problem_of(test, own);
    for (const auto& [mine, global] : {std::pair{local.q, whole.q}, {local.k, whole.k},
                                       {local.v, whole.v}, {local.d_o, whole.d_o}})
      RC_ASSERT(difference(tokens_only(test, mine, own),
                           shard(tokens_only(test, global, all), 2, own)) == "");
  }
}

// Neither the number of ranks nor anything else of how a case is run is in its numbers.
RC_GTEST_PROP(Problem, IsTheSameOnAnyWorld, ()) {
  const Case test = *gen::exact_case(*gen::name_of<parity::DataFamilies>());
  Case other = test;
  other.world = test.world % 8 + 1;
  other.balance = "contiguous";
  other.block = 1;
  other.arguments = ":p2p";
  const Positions all{{0, test.seq}};
  const Problem one = parity::problem_of(test), two = parity::problem_of(other);
  for (const auto& [a, b] : {std::pair{one.q, two.q}, {one.k, two.k}, {one.v, two.v}, {one.d_o, two.d_o}})
    RC_ASSERT(difference(tokens_only(test, a, all), tokens_only(test, b, all)) == "");
}

// The user's numbers are given as they are in the file, the gradient of O, too; one that is not there is drawn.
TEST(Problem, IsWhatTheFileHolds) {
  const cli::TemporaryFolder folder;
  parity::Safetensors file;
  for (const char* name : {"q", "k", "v", "do"}) file.tensors[name] = at::sin(at::arange(48, at::kFloat) * (name[0] - 'a' + 1.37)).view({1, 2, 6, 4});
  const auto problem = [&] {
    const std::string path = folder.file("qkv.safetensors");
    parity::write_safetensors(path, file);
    return parity::problem_of(parity::parse_case("full/P2/b1/hq2/hkv2/s6/d4/float32/tensors[" + path + "]"), {{2, 3}});
  };
  const auto is = [&](const at::Tensor& given, const char* name) {
    return at::equal(given, file.tensors[name].narrow(2, 2, 3));
  };
  const Problem given = problem();
  EXPECT_TRUE(is(given.q, "q") && is(given.k, "k") && is(given.v, "v") && is(given.d_o, "do"));
  const at::Tensor own = given.d_o;
  file.tensors.erase("do");
  const at::Tensor drawn = problem().d_o;
  EXPECT_EQ(drawn.sizes(), own.sizes());
  EXPECT_FALSE(at::equal(drawn, own));
}

// Nor is the device that makes it.
TEST(Problem, IsTheSameOnTheDevice) {
  for (const uint64_t seed : {uint64_t{7}, ~uint64_t{7}})
    EXPECT_EQ(parity::inputs_difference(test_device(), seed), std::nullopt);
}

// Another seed, other numbers.
RC_GTEST_PROP(Problem, DependsOnTheSeed, ()) {
  Case test = *gen::test_case();
  test.mask = Full{};
  const Problem one = parity::problem_of(test);
  ++test.seed;
  RC_ASSERT(!one.q.equal(parity::problem_of(test).q));
}

// The rows [batch, head] of a tensor, of which no two are alike.
bool all_differ(const at::Tensor& x) {
  const at::Tensor rows = x.flatten(0, 1).flatten(1);
  for (int64_t a = 0; a < rows.size(0); ++a)
    for (int64_t b = 0; b < a; ++b)
      if (rows[a].equal(rows[b])) return false;
  return true;
}

// Who takes another batch entry's or head's numbers has other numbers, in every family that draws them.
TEST(Problem, DiffersFromEntryToEntryAndFromHeadToHead) {
  for (const std::string& family : {"spread3", "normal", "uniform", "outliers", "peaked", "flat", "offset", "wide", "routing"}) {
    const Problem p = parity::problem_of(parity::parse_case("full/b3/hq6/hkv3/s512/d16/float32/" + family));
    for (const auto& [name, x] : {std::pair{"q", p.q}, {"k", p.k}, {"v", p.v}, {"dO", p.d_o}})
      EXPECT_TRUE(all_differ(x)) << name << " of " << family;
  }
}

// The key that a query of `routing` chooses: the one of the largest score.
TEST(Problem, RoutesQueriesToMoreThanThemselves) {
  for (const char* mask : {"full", "causal"}) {
    const Problem p = parity::problem_of(parity::parse_case(std::string(mask) + "/b2/hq4/hkv2/s64/d8/float32/routing"));
    const at::Tensor scores = at::matmul(p.q, p.k.repeat_interleave(2, 1).mT());
    const at::Tensor chosen = scores.argmax(3), itself = chosen.eq(at::arange(64));
    EXPECT_LT(itself.sum().item<int64_t>(), chosen.numel() / 4) << mask;
    EXPECT_TRUE(mask[0] == 'f' || chosen.le(at::arange(64)).all().item<bool>()) << mask;
  }
}

// Slots without a token hold NaN, so whatever reads them shows.
TEST(Problem, PoisonsPadSlots) {
  const Case test = parity::parse_case("doc[3:5,2]/P2/hq1/hkv1/d4");
  const Problem whole = parity::problem_of(test);
  EXPECT_TRUE(whole.k.narrow(2, 3, 2).isnan().all().item<bool>());
  EXPECT_FALSE(whole.k.narrow(2, 0, 3).isnan().any().item<bool>());
  const Problem last = parity::problem_of(test, {{6, 2}});
  EXPECT_TRUE(last.q.narrow(2, 1, 1).isnan().all().item<bool>());
}

double standard_deviation(const at::Tensor& x) { return x.to(at::kDouble).std().item<double>(); }

// The default family has logits of standard deviation 3, random dO, and is exact in float32.
TEST(Problem, SpreadsItsLogits) {
  const Case test = parity::parse_case("s1K/hq2/hkv2/d64/float64");
  const Problem p = parity::problem_of(test);
  const at::Tensor logits = at::matmul(p.q, p.k.transpose(2, 3)).mul_(parity::scale_of(test));
  EXPECT_GT(standard_deviation(logits), 3.0);
  EXPECT_LT(standard_deviation(logits), 3.4);
  EXPECT_NEAR(standard_deviation(p.d_o), 1.02, 0.03);
  EXPECT_NEAR(p.v.mean().item<double>(), 0, 0.02);
}

TEST(Problem, IsRoundedOnceFromTheSameValues) {
  for (const auto& [family, entry] : parity::DataFamilies::all()) {
    Case test = parity::parse_case("s64/hq2/hkv1/d8/float32");
    test.data = family;
    const Problem wide = parity::problem_of(test);
    for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf}) {
      test.dtype = dtype;
      EXPECT_TRUE(parity::problem_of(test).v.equal(wide.v.to(dtype))) << family;
    }
    EXPECT_FALSE(entry.says.empty());
    EXPECT_TRUE(wide.q.isfinite().all().item<bool>()) << family;
  }
}

}  // namespace
}  // namespace ringcheck
