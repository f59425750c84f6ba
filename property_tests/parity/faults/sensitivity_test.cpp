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
json measured(const std::string& kernel, const std::vector<at::ScalarType>& dtypes) {
  json limits = json::array();
  for (const parity::Limit& limit : parity::sensitivity({dtypes, 20, false, {}, kernel}))
    limits.push_back({{"dtype", limit.dtype},
                      {"what", limit.what},
                      {"scope", limit.scope},
                      {"by", limit.by},
                      {"epsilon", limit.epsilon ? json(*limit.epsilon) : json()}});
  return {{"limits", limits}};
}

// Two dtypes of each kernel, a wide and a narrow one: all of both would take minutes.
TEST(Sensitivity, NoLimitOfDetectionHasDoubled) {
  EXPECT_THAT(testing::doubled_limits(measured("plain", {at::kDouble, at::kBFloat16}),
                                      testing::committed_result("cpu_sensitivity.json"),
                                      {"float64", "bf16"}),
              ::testing::IsEmpty());
  EXPECT_THAT(testing::doubled_limits(measured("flash", {at::kFloat, at::kHalf}),
                                      testing::committed_result("cpu_sensitivity_flash.json"),
                                      {"float32", "fp16"}),
              ::testing::IsEmpty());
}

}  // namespace
}  // namespace ringcheck
