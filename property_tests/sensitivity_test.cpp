// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/sensitivity.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace ringcheck {
namespace {

using parity::Limit;

std::string key(const std::string& dtype, const std::string& what, const std::string& scope,
                const std::string& by) {
  return dtype + " " + what + " " + scope + " " + by;
}

// The committed limits of detection.
std::map<std::string, double> committed() {
  std::ifstream file(RINGCHECK_SOURCE_DIR "/reports/results/cpu_sensitivity.json");
  std::map<std::string, double> limits;
  const nlohmann::json json = nlohmann::json::parse(file);
  for (const nlohmann::json& limit : json.at("limits"))
    if (!limit.at("epsilon").is_null())
      limits[key(limit.at("dtype"), limit.at("what"), limit.at("scope"), limit.at("by"))] =
          limit.at("epsilon");
  return limits;
}

// The committed trials again, our detectors alone: none sees only errors more than twice as large.
TEST(Sensitivity, NoLimitOfDetectionHasDoubled) {
  const auto known = committed();
  int compared = 0;
  for (const Limit& limit : parity::sensitivity({{at::kFloat, at::kBFloat16}, 20, false, {}})) {
    const auto found = known.find(key(limit.dtype, limit.what, limit.scope, limit.by));
    if (found == known.end()) continue;
    const std::string where = found->first;
    ASSERT_TRUE(limit.epsilon) << where << ": no error is seen any more";
    EXPECT_LE(*limit.epsilon, 2 * found->second) << where;
    ++compared;
  }
  EXPECT_GE(compared, 2 * 5 * 5 * 3);  // tensors, places, and hard, stat, parity at least
}

// What a zero would pass for is less than 2 % of the energy of every tensor that is judged here.
TEST(Sensitivity, AZeroIsSeenEverywhere) {
  const auto known = committed();
  for (const char* tensor : {"o", "lse", "dq", "dk", "dv"})
    for (const char* dtype : {"float64", "float32", "bf16", "fp16"})
      EXPECT_LT(known.at(key(dtype, tensor, "tensor", "parity")), 0.02) << tensor << " " << dtype;
}

}  // namespace
}  // namespace ringcheck
