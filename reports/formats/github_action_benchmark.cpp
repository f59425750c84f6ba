// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// github-action-benchmark, tools customSmallerIsBetter and customBiggerIsBetter: a list of values.
#include <nlohmann/json.hpp>

#include "reports/formats/format.h"
#include "reports/formats/series.h"

namespace ringcheck::reports {

std::string github_action_benchmark(const Result& result, const std::string& better) {
  nlohmann::json list = nlohmann::json::array();
  const std::vector<std::string> subjects = subjects_of(result);
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Measurement& one = result.measurements[i];
    const Sampled of = sampled(one);
    if (one.better != better || of.samples.empty()) continue;
    list.push_back({{"name", subjects[i] + " " + one.name},
                    {"unit", one.unit},
                    {"value", of.median},
                    {"range", significant(of.least) + " ... " + significant(of.most)},
                    {"extra", "median of " + std::to_string(of.samples.size()) + ", commit " +
                                  result.environment.commit}});
  }
  return list.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace ringcheck::reports
