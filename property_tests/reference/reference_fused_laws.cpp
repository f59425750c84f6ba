// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The fused float64 kernel of the reference gives what its plain form gives. They run on GPUs only:
// with RINGCHECK_TEST_DEVICE=cpu every law here is skipped.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "property_tests/parity/case/generators.h"
#include "property_tests/reference/reference_problems.h"
#include "property_tests/test_device.h"
#include "reference/errors/bounds.h"
#include "reference/errors/estimate.h"
#include "reference/tiles/fast_path.h"

namespace ringcheck::reference_testing {
namespace {

using namespace reference;
using ReferenceGroup = reference::Group;

class FusedReference : public testing::Test {
 protected:
  void SetUp() override {
    if (test_device_type() != at::kCUDA)
      GTEST_SKIP() << "there are fused kernels for GPUs only: set RINGCHECK_TEST_DEVICE=cuda";
  }
};

struct Problem {
  ReferenceGroup group;
  Tiles cut;
};

Problem problem(const Shape& shape, const Mask& mask, uint64_t seed, Family family) {
  const Inputs in = draw(shape, mask, seed, family);
  return {grouped(in, {0, shape.batch * shape.kv_heads}, test_device()),
          tiles(key_runs(mask), {}, test_device())};
}

Shape drawn_shape() {
  Shape shape;
  shape.batch = *gen::between(1, 2).as("batch");
  shape.kv_heads = *gen::between(1, 2).as("kv heads");
  shape.q_heads = shape.kv_heads * *gen::between(1, 4).as("heads that share keys");
  shape.seq = *gen::between(1, *gen::choice<int64_t>({40, 300, 900})).as("slots");
  shape.dim = shape.dim_v = *gen::choice<int64_t>({64, 128}).as("dim");
  return shape;
}

const std::pair<const char*, at::Tensor Solution::*> kMembers[] = {
    {"o", &Solution::o}, {"max", &Solution::max}, {"sum", &Solution::sum}, {"lse", &Solution::lse}, {"delta", &Solution::delta}};

// Both err, each by no more than any implementation in float64 may. The maximum and the logarithm
// of the sum are halves of the LSE, with no more error than it has.
void expect_alike(const Solution& fused, const Solution& plain, const Tensors& bound) {
  const auto alike = [&](const char* name, const at::Tensor& a, const at::Tensor& b,
                         const at::Tensor& allowed) {
    if (const double times = worst(a, b, allowed); !(times <= 2))
      RC_FAIL(std::string(name) + " differs by " + std::to_string(times) + " times the bound");
  };
  alike("o", fused.o, plain.o, bound.o);
  alike("max", fused.max, plain.max, bound.lse);
  alike("log(sum)", fused.sum.log(), plain.sum.log(), bound.lse);
  alike("lse", fused.lse, plain.lse, bound.lse);
}

// Queries without keys have nothing to round.
void expect_exact_where_blind(const Solution& s, const Tiles& cut) {
  const at::Tensor blind = cut.keys == 0;
  RC_ASSERT(s.lse.isneginf().equal(blind.expand_as(s.lse)));
  RC_ASSERT((s.o == 0).logical_or_(~blind.unsqueeze(-1)).all().item<bool>());
  for (const at::Tensor& x : {s.max, s.sum, s.delta})
    RC_ASSERT((x == 0).logical_or_(~blind).all().item<bool>());
}

TEST_F(FusedReference, IsThePlainForm) {
  check_property(rc::detail::toProperty([] {
    const Shape shape = drawn_shape();
    const Mask mask = *gen::mask(shape.seq).as("mask");
    const auto family = *gen::choice<Family>({kFamilies.begin(), kFamilies.end()});
    RC_TAG(name_of(family));
    const auto [group, cut] = problem(shape, mask, *gen::seed().as("seed"), family);
    const FastPath* path = fast_path_of(group);
    RC_ASSERT(path != nullptr);
    const Solution fused = path->attend(group, cut), plain = attend_plainly(group, cut, {});
    const double dim = static_cast<double>(shape.dim);
    const ErrorModel model{.contract = float64_contract(), .dim = dim, .dim_v = dim};
    expect_alike(fused, plain, estimate(plain, group, cut, model, {}).bound);
    expect_exact_where_blind(fused, cut);
    const Solution again = path->attend(group, cut);
    for (const auto& [name, member] : kMembers)
      if (!same_bits(fused.*member, again.*member))
        RC_FAIL(std::string(name) + " has other bits the second time");
  }));
}

// Equal weights are no powers of two, and one after the other they would be off by up to 1000 roundings of their sum:
// every addition errs alike. The last keys are `above` the others, whose sum then counts for nothing, with what their
// additions lost.
double off_of_equal_keys(double above, int64_t last) {
  constexpr int64_t kKeys = 16384;
  constexpr double kRounding = 0x1p-53;
  const double scale_of_channel = 8;  // the scale is 1 / sqrt(64)
  const Mask mask{Full{}, kKeys};
  Inputs in = draw({.batch = 1, .q_heads = 1, .kv_heads = 1, .seq = kKeys, .dim = 64, .dim_v = 64}, mask, 7);
  in.k = in.k.narrow(2, 0, 1).expand_as(in.k).contiguous();
  in.q.select(3, 0).fill_(1);
  in.k.select(3, 0).zero_().narrow(2, kKeys - last, last).fill_(above * scale_of_channel);
  const ReferenceGroup group = grouped(in, {0, 1}, test_device());
  const at::Tensor sum = fast_path_of(group)->attend(group, tiles(key_runs(mask), {}, test_device())).sum;
  return (sum / static_cast<double>(last) - 1).abs().max().item<double>() / kRounding;
}

TEST_F(FusedReference, WeightsOfEqualKeysAddUpToTheirNumber) {
  EXPECT_LE(off_of_equal_keys(0, 16384), 64);
  EXPECT_LE(off_of_equal_keys(60, 16), 64);
}

// Where the kernels do not compute a problem, nobody asks them to: attend() takes the plain form.
TEST_F(FusedReference, RefusesWhatItDoesNotCompute) {
  const auto refused = [](Shape shape, double scale) {
    Problem p = problem(shape, {Causal{}, shape.seq}, 5, Family::kNormal);
    p.group.scale *= scale;
    EXPECT_EQ(fast_path_of(p.group), nullptr);
    EXPECT_TRUE(same_bits(attend(p.group, p.cut, {}).o, attend_plainly(p.group, p.cut, {}).o));
  };
  refused({.seq = 70, .dim = 96, .dim_v = 96}, 1);
  refused({.seq = 70, .dim = 32, .dim_v = 32}, 1);
  refused({.seq = 70, .dim = 64, .dim_v = 128}, 1);
  refused({.seq = 70, .dim = 128, .dim_v = 64}, 1);
  refused({.seq = 70, .dim = 64, .dim_v = 64}, -1);
  refused({.seq = 70, .dim = 64, .dim_v = 64}, 0);
}

// Only sizes are looked at: no memory is behind these.
TEST_F(FusedReference, RefusesWhatNoGridHolds) {
  const auto group = [](int64_t heads, int64_t seq, at::Device device) {
    const at::Tensor x = at::zeros({1}, at::TensorOptions(at::kDouble).device(device));
    const at::Tensor q = x.expand({1, heads, seq, 64}), k = x.expand({1, seq, 64});
    return ReferenceGroup{q, k, k, q, 1};
  };
  constexpr int64_t kLongest = int64_t{64} * 65535;
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  EXPECT_NE(fast_path_of(group(1, kLongest, test_device())), nullptr);
  EXPECT_EQ(fast_path_of(group(1, kLongest + 1, test_device())), nullptr);
  EXPECT_NE(fast_path_of(group(kMost, 1, test_device())), nullptr);
  EXPECT_EQ(fast_path_of(group(kMost + 1, 1, test_device())), nullptr);
  EXPECT_EQ(fast_path_of(group(1, 64, at::kCPU)), nullptr);
  ReferenceGroup sample = group(1, 64, test_device());
  sample.q = sample.q.narrow(2, 0, 7);
  EXPECT_EQ(fast_path_of(sample), nullptr);  // some queries, all keys
}

}  // namespace
}  // namespace ringcheck::reference_testing
