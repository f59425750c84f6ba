// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/arithmetic.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cp/device/cuda_library.h"
#include "parity/subject/contract.h"
#include "parity/judge/oracle.h"
#include "property_tests/test_device.h"

namespace ringcheck {
namespace {

// How a kernel adds up V where all keys have one score.
struct Habits {
  int bits = 24;
  bool chops = false;
  int64_t lanes = 1;         // each adds up every lanes-th key; then the lanes are added up
  bool backwards = false;    // the last key first
  double wrong = 0;          // what LSE is off by
  bool refuses_negative = false;  // NaN where the first value is negative
};

class Coarse final : public AttentionKernel {
 public:
  explicit Coarse(Habits habits) : has_(habits) {}
  std::optional<std::string> refuses(const BlockShape&) const override { return std::nullopt; }
  int64_t workspace_bytes(const BlockShape&) const override { return 0; }
  Partial forward(const QBlock& q, const KvBlock& kv, const Scores& scores,
                  const Visibility& visibility) const override {
    const at::Tensor v = kv.v().to(at::kDouble), k = kv.k().to(at::kDouble);
    std::vector<at::Tensor> lanes(has_.lanes, at::zeros_like(v.select(2, 0)));
    for (int64_t i = 0; i < v.size(2); ++i) {
      at::Tensor& lane = lanes[i % has_.lanes];
      lane = cut(lane + v.select(2, has_.backwards ? v.size(2) - 1 - i : i));
    }
    at::Tensor sum = lanes[0];
    for (int64_t i = 1; i < has_.lanes; ++i) sum = cut(sum + lanes[i]);
    if (has_.refuses_negative && v.select(2, 0).lt(0).any().item<bool>()) sum = sum * NAN;
    const at::Tensor lse = at::matmul(q.q.to(at::kDouble), k.transpose(2, 3)).logsumexp(-1);
    return {(sum / v.size(2)).unsqueeze(2).expand_as(v), lse + has_.wrong};
  }
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Scores& scores,
                     const Visibility& visibility) const override {
    return {};
  }

 private:
  at::Tensor cut(const at::Tensor& x) const {
    const at::Tensor exponent = x.abs().log2().floor().nan_to_num(0, 0, 0) + 1;
    const at::Tensor last = at::pow(2, exponent - has_.bits);
    return (has_.chops ? (x / last).trunc() : (x / last).round()) * last;
  }
  Habits has_;
};

parity::Arithmetic seen(const Habits& habits) {
  return parity::arithmetic_of(Coarse(habits), at::kDouble, at::Device(at::kCPU));
}

TEST(Arithmetic, IsSeenFromOutside) {
  for (const int bits : {8, 11, 23, 24, 25})
    for (const bool chops : {false, true})
      for (const int64_t lanes : {1, 4, 16})
        for (const bool backwards : {false, true}) {
          const auto found = seen({bits, chops, lanes, backwards});
          EXPECT_EQ(found.bits, bits) << chops << lanes << backwards;
          EXPECT_EQ(found.chops, chops) << bits << " " << lanes << backwards;
          EXPECT_EQ(found.roundoff(), std::ldexp(chops ? 2 : 1, -bits));
          EXPECT_LT(found.lse_error, 1e-3);
        }
}

TEST(Arithmetic, NaNKeepsNoBits) { EXPECT_EQ(seen({.refuses_negative = true}).bits, 0); }

TEST(Arithmetic, LseErrorIsInRoundoffs) {
  EXPECT_NEAR(seen({.wrong = 0x1p-20}).lse_error, 16, 1e-3);
}

// Every kernel of this device adds up and exponentiates as finely as its contract says; the sum of
// 256 terms and its logarithm add less than 64 roundoffs to that, as measured. No sum is finer than
// one in float32, or float64, can be. Where this kind of GPU was measured before, nothing changed.
TEST(Arithmetic, IsThatOfTheContract) {
  const std::vector<std::string> kernels = kernels_on(test_device_type());
  ASSERT_FALSE(kernels.empty());
  for (const std::string& kernel : kernels)
    for (const auto& [name, promised] : parity::contract_json(kernel).at("dtypes").items()) {
      parity::Case test = parity::parse_case(name);
      test.kernel = kernel;
      const auto found =
          parity::arithmetic_of(*AttentionKernels::at(kernel), test.dtype, test_device());
      const reference::Contract contract = parity::contract_of(test);
      const std::string who = kernel + " in " + name;
      EXPECT_LE(found.roundoff(), contract.u_a) << who;
      EXPECT_GE(found.roundoff(), test.dtype == at::kDouble ? 0x1p-53 : 0x1p-24) << who;
      EXPECT_LT(found.lse_error * found.roundoff(), (contract.c_e + 64) * contract.u_a) << who;
      const auto& measured = parity::contract_json(kernel).value("measured", nlohmann::json());
      const std::string here = test_device_type() == at::kCPU ? "" : gpu_architecture();
      if (!measured.contains(here)) continue;
      EXPECT_EQ(found.bits, measured.at(here).at(name).at("sum_bits")) << who;
      EXPECT_EQ(found.chops, measured.at(here).at(name).at("chops")) << who;
    }
}

}  // namespace
}  // namespace ringcheck
