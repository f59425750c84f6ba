// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Constants of a contract become stricter by measurement, and never looser.
#include "parity/judge/calibration/constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ringcheck::parity {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Of a kernel that keeps all wide, or rounds P and partial results to bf16.
json contract_with(double c_e, double kappa, bool rounds = false) {
  const int u = rounds ? -8 : -24;
  return {{"kernel", "some"},
          {"dtypes", {{"bf16", {{"u_a", -24}, {"u_p", u}, {"u_m", u}, {"c_e", c_e}, {"kappa", kappa}}}}}};
}

json with_backward(json contract, double c_e) {
  contract["backward"]["bf16"] = {{"u_a", -24}, {"u_p", -24}, {"u_m", -24}, {"c_e", c_e}, {"kappa", 1}};
  return contract;
}

Arithmetic found(double exp_error, double backward_exp_error) {
  Arithmetic arithmetic;
  arithmetic.bits = 24;
  arithmetic.kappa = 8;
  arithmetic.exp_error = exp_error;
  arithmetic.backward_exp_error = backward_exp_error;
  return arithmetic;
}

std::string refusal(const Arithmetic& arithmetic, const json& contract) {
  try {
    measured_in("bf16", arithmetic, contract);
    return "";
  } catch (const BadCase& error) {
    return error.what();
  }
}

// The larger of both passes, but where P or its results are rounded to 16 bits on the way to us.
TEST(Constants, AreMeasuredWhereTheyCanBeSeen) {
  const json both = measured_in("bf16", found(2.5, 3.25), contract_with(4, 1));
  EXPECT_EQ(both.at("c_e"), 3.25);
  EXPECT_EQ(both.at("kappa"), 8);
  const json hidden = measured_in("bf16", found(2.5, 9999), contract_with(4, 1, true));
  EXPECT_EQ(hidden.at("c_e"), 2.5);
  EXPECT_FALSE(hidden.contains("kappa"));
  const json apart = measured_in("bf16", found(100, 2), with_backward(contract_with(128, 1, true), 4));
  EXPECT_EQ(apart.at("c_e"), 100);
  EXPECT_EQ(apart.at("backward_c_e"), 2);
}

TEST(Constants, CoarserThanPromisedIsRefused) {
  EXPECT_EQ(refusal(found(4, 4), contract_with(4, 1)), "");
  EXPECT_THAT(refusal(found(4.1, 1), contract_with(4, 1)), HasSubstr("more than the 4 of its contract"));
  EXPECT_THAT(refusal(found(1, 4.1), contract_with(4, 1)), HasSubstr("c_e 4.1"));
  EXPECT_THAT(refusal(found(1, 4.1), with_backward(contract_with(8, 1, true), 4)),
              HasSubstr("backward with c_e 4.1"));
  Arithmetic coarse = found(1, 1);
  coarse.bits = 23;
  EXPECT_THAT(refusal(coarse, contract_with(4, 1)), HasSubstr("roundoff"));
  Arithmetic chopping = found(1, 1);
  chopping.chops = true;
  json contract = contract_with(4, 1);
  contract["dtypes"]["bf16"]["u_a"] = -23;
  EXPECT_THAT(refusal(chopping, contract), HasSubstr("chops its sums"));
  contract["dtypes"]["bf16"]["chops_after"] = 8;
  EXPECT_EQ(refusal(chopping, contract), "");
}

TEST(Constants, AreTheWorstOfAllArchitectures) {
  json contract = with_backward(contract_with(2048, 1), 40);
  contract["measured"] = {{"sm_80", {{"bf16", {{"c_e", 2.5}, {"kappa", 16}, {"backward_c_e", 0.3}}}}},
                          {"sm_90", {{"bf16", {{"c_e", 1.5}, {"kappa", 8}, {"backward_c_e", -1}}}}}};
  take_constants(contract);
  EXPECT_EQ(contract["dtypes"]["bf16"]["c_e"], 4);
  EXPECT_EQ(contract["dtypes"]["bf16"]["kappa"], 8);
  EXPECT_EQ(contract["backward"]["bf16"]["c_e"], 1);
}

TEST(Constants, StandWhereAnArchitectureWasNotAsked) {
  json contract = contract_with(16, 4);
  contract["measured"] = {{"sm_80", {{"bf16", {{"sum_bits", 24}}}}},
                          {"sm_90", {{"bf16", {{"c_e", 1.5}, {"kappa", 8}}}}}};
  take_constants(contract);
  EXPECT_EQ(contract["dtypes"]["bf16"]["c_e"], 16);
  EXPECT_EQ(contract["dtypes"]["bf16"]["kappa"], 4);
}

TEST(Constants, KappaOfACpuIsOne) {
  json contract = contract_with(2, 1);
  contract["measured"]["cpu"]["bf16"] = {{"c_e", 0.9}, {"kappa", 16}};
  take_constants(contract);
  EXPECT_EQ(contract["dtypes"]["bf16"]["kappa"], 1);
}

TEST(Constants, ArePromised) {
  Promise promise;
  promise.backward_contract = reference::Contract{};
  promise_constants(with_backward(contract_with(64, 2), 32), at::kBFloat16, promise);
  EXPECT_EQ(promise.contract.c_e, 64);
  EXPECT_EQ(promise.contract.kappa, 2);
  EXPECT_EQ(promise.backward_contract->c_e, 32);
}

}  // namespace
}  // namespace ringcheck::parity
