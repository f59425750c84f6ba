// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/arithmetic.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "parity/contract.h"
#include "property_tests/test_device.h"

namespace ringcheck {
namespace {

// The sum of V in order of the keys, in so many bits, where all keys have one score; LSE is off by
// a constant.
class Coarse final : public AttentionKernel {
 public:
  Coarse(int bits, bool chops, double wrong) : bits_(bits), chops_(chops), wrong_(wrong) {}
  std::optional<std::string> refuses(const BlockShape&) const override { return std::nullopt; }
  int64_t workspace_bytes(const BlockShape&) const override { return 0; }
  Partial forward(const QBlock& q, const KvBlock& kv, const Mask&, double) const override {
    const at::Tensor v = kv.v().to(at::kDouble), k = kv.k().to(at::kDouble);
    at::Tensor sum = at::zeros_like(v.select(2, 0));
    for (int64_t key = 0; key < v.size(2); ++key) sum = cut(sum + v.select(2, key));
    const at::Tensor lse = at::matmul(q.q.to(at::kDouble), k.transpose(2, 3)).logsumexp(-1);
    return {(sum / v.size(2)).unsqueeze(2).expand_as(v), lse + wrong_};
  }
  Gradients backward(const QBlock&, const KvBlock&, const Saved&, const Mask&,
                     double) const override {
    return {};
  }

 private:
  at::Tensor cut(const at::Tensor& x) const {
    const at::Tensor exponent = x.abs().log2().floor().nan_to_num(0, 0, 0) + 1;
    const at::Tensor last = at::pow(2, exponent - bits_);
    return (chops_ ? (x / last).trunc() : (x / last).round()) * last;
  }
  int bits_;
  bool chops_;
  double wrong_;
};

TEST(Arithmetic, IsSeenFromOutside) {
  for (const int bits : {8, 11, 23, 24, 25})
    for (const bool chops : {false, true}) {
      const auto found =
          parity::arithmetic_of(Coarse(bits, chops, 0), at::kDouble, at::Device(at::kCPU));
      EXPECT_EQ(found.bits, bits) << chops;
      EXPECT_EQ(found.chops, chops) << bits;
      EXPECT_EQ(found.roundoff(), std::ldexp(chops ? 2 : 1, -bits));
      EXPECT_LT(found.lse_error, 1e-3);
    }
}

TEST(Arithmetic, LseErrorIsInRoundoffs) {
  const Coarse off(24, false, 0x1p-20);
  EXPECT_NEAR(parity::arithmetic_of(off, at::kDouble, at::Device(at::kCPU)).lse_error, 16, 1e-3);
}

// Every kernel of this device adds up and exponentiates as finely as its contract says; the sum of
// 256 terms and its logarithm add less than 64 roundoffs to that. And no sum is finer than one in
// float32, or float64, can be.
TEST(Arithmetic, IsThatOfTheContract) {
  for (const std::string& kernel : kernels_on(test_device_type()))
    for (const auto& [name, promised] : parity::contract_json(kernel).at("dtypes").items()) {
      const at::ScalarType dtype = parity::parse_dtype(name);
      const auto found =
          parity::arithmetic_of(*AttentionKernels::at(kernel), dtype, test_device());
      const double u_a = std::ldexp(1, promised.at("u_a").get<int>());
      EXPECT_LE(found.roundoff(), u_a) << kernel << " " << name;
      EXPECT_GE(found.roundoff(), dtype == at::kDouble ? 0x1p-64 : 0x1p-32)
          << kernel << " " << name;
      EXPECT_LT(found.lse_error * found.roundoff(), (promised.at("c_e").get<double>() + 64) * u_a)
          << kernel << " " << name;
    }
}

}  // namespace
}  // namespace ringcheck
