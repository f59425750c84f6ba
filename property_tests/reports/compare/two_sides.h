// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/compare/comparison.h"

// What is compared: sides of runs, and series that were measured.
namespace ringcheck::reports {

inline Measurement measured(const std::string& name, std::vector<double> samples) {
  return {name, {{"P", "4"}}, "s", {samples.begin(), samples.end()}, "smaller", {}};
}

// Twice, one after the other.
inline std::vector<double> repeated(std::vector<double> values) {
  const std::vector<double> once = values;
  values.insert(values.end(), once.begin(), once.end());
  return values;
}

inline Side side(const std::vector<Result>& runs, const std::string& name = "run") {
  Side side;
  for (size_t i = 0; i < runs.size(); ++i) {
    side.names.push_back(name + std::to_string(i));
    side.runs.push_back(runs[i]);
  }
  return side;
}

inline Comparison of(const Result& base, const Result& now, const SpeedQuestion& question = {}) {
  return compare(side({base}, "base"), side({now}, "new"), {}, question);
}

}  // namespace ringcheck::reports
