// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/calibration/arithmetic.h"

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
  double exp_off = 0;             // the relative error of e^-x where x > 0
  double backward_exp_off = 0;
};

class Coarse final : public AttentionKernel {
 public:
  explicit Coarse(Habits habits) : has_(habits) {}
  std::optional<std::string> refuses(const BlockShape&) const override { return std::nullopt; }
  CallBytes call_bytes(const BlockShape&) const override { return {}; }
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
    const at::Tensor p = exponential(at::matmul(q.q.to(at::kDouble), k.transpose(2, 3)), has_.exp_off);
    return {(sum / v.size(2)).unsqueeze(2).expand_as(v), p.sum(-1).log() + has_.wrong};
  }
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Scores&,
                     const Visibility&) const override {
    const at::Tensor s = at::matmul(q.q.to(at::kDouble), kv.k().to(at::kDouble).transpose(2, 3));
    const at::Tensor p = exponential(s - saved.lse.unsqueeze(3), has_.backward_exp_off);
    return {{}, {}, at::matmul(p.transpose(2, 3), saved.d_o.to(at::kDouble))};
  }

 private:
  // Of scores that are at most 0.
  static at::Tensor exponential(const at::Tensor& s, double off) {
    return s.exp() * (1 + off * s.lt(0).to(at::kDouble));
  }
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

TEST(Arithmetic, NaNIsAnInfiniteError) {
  EXPECT_EQ(seen({.exp_off = NAN}).exp_error, INFINITY);
  EXPECT_EQ(seen({.backward_exp_off = NAN}).backward_exp_error, INFINITY);
}

TEST(Arithmetic, LseErrorIsInRoundoffs) {
  EXPECT_NEAR(seen({.wrong = 0x1p-20}).lse_error, 16, 1e-3);
}

// Both exponentials apart: what the sum, the logarithm and the score may explain is not theirs, which
// is up to (1/2 + 4 log 2) / (1/2) roundoffs where LSE is all there is.
TEST(Arithmetic, ExpErrorIsInRoundoffs) {
  for (const double off : {-0x1p-18, 0x1p-18, 0x1p-12}) {
    const double want = std::abs(off) * 0x1p24;
    const auto forward = seen({.exp_off = off}), backward = seen({.backward_exp_off = off});
    EXPECT_LE(forward.exp_error, want * 1.001);
    EXPECT_GE(forward.exp_error, want * 0.99 - (1 + 8 * std::log(2)));
    EXPECT_NEAR(backward.backward_exp_error, want, want * 0.001 + 0.01);
    EXPECT_LT(forward.backward_exp_error, 0.01);
    EXPECT_LE(backward.exp_error, 0);
  }
}

// A lane adds up every n-th term: of 256 terms a large one meets 256 / n.
TEST(Arithmetic, TermsThatMeetALargeOneAloneAreCounted) {
  for (const bool backwards : {false, true}) {
    EXPECT_EQ(seen({.backwards = backwards}).kappa, 1) << backwards;
    for (const int64_t lanes : {4, 16}) {
      const int64_t found = seen({.lanes = lanes, .backwards = backwards}).kappa;
      EXPECT_GE(found, lanes / 2) << backwards;
      EXPECT_LE(found, lanes) << backwards;
    }
  }
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
      EXPECT_LE(found.exp_error * found.roundoff(), contract.c_e * contract.u_a) << who;
      const reference::Contract backward = parity::contracts_of(test).backward;
      if (backward.u_p <= backward.u_a && backward.u_m <= backward.u_a) {
        EXPECT_LE(found.backward_exp_error * found.roundoff(), backward.c_e * backward.u_a) << who;
      }
      if (contract.u_m <= contract.u_a) {
        EXPECT_GE(found.kappa, contract.kappa) << who;
      }
      const auto& measured = parity::contract_json(kernel).value("measured", nlohmann::json());
      const std::string here = test_device_type() == at::kCPU ? "" : gpu_architecture();
      if (!measured.contains(here)) continue;
      EXPECT_EQ(found.bits, measured.at(here).at(name).at("sum_bits")) << who;
      EXPECT_EQ(found.chops, measured.at(here).at(name).at("chops")) << who;
    }
}

}  // namespace
}  // namespace ringcheck
