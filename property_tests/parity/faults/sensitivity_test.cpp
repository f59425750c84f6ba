// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/sensitivity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "property_tests/parity/faults/detection_gate.h"

namespace ringcheck {
namespace {

using nlohmann::json;

// The committed trials again, our detectors alone.
json measured(const std::vector<at::ScalarType>& dtypes, const std::string& kernel) {
  json limits = json::array();
  for (const parity::Limit& limit : parity::sensitivity({dtypes, 20, false, {}, kernel}))
    limits.push_back({{"dtype", limit.dtype},
                      {"what", limit.what},
                      {"scope", limit.scope},
                      {"by", limit.by},
                      {"epsilon", limit.epsilon ? json(*limit.epsilon) : json()}});
  return {{"limits", limits}};
}

TEST(Sensitivity, NoLimitOfDetectionHasDoubled) {
  EXPECT_THAT(testing::doubled_limits(measured({at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}, "plain"),
                                      testing::committed_result("cpu_sensitivity.json"),
                                      {"float64", "float32", "bf16", "fp16"}),
              ::testing::IsEmpty());
}

// Constants of a kernel that are too kind are kind in a dtype of 16 bits first: there its own are
// largest.
TEST(Sensitivity, NoLimitOfFlashHasDoubled) {
  EXPECT_THAT(testing::doubled_limits(measured({at::kHalf}, "flash"),
                                      testing::committed_result("cpu_sensitivity_flash.json"), {"fp16"}),
              ::testing::IsEmpty());
}

}  // namespace
}  // namespace ringcheck
