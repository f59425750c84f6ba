// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Bencher Metric Format: a benchmark, its measures, and of each the value and its ends.
#include <nlohmann/json.hpp>

#include "reports/formats/format.h"
#include "reports/formats/series.h"

namespace ringcheck::reports {

std::string bencher(const Result& result) {
  nlohmann::json file = nlohmann::json::object();
  const std::vector<std::string> subjects = subjects_of(result);
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Measurement& one = result.measurements[i];
    const Sampled of = sampled(one);
    if (of.samples.empty()) continue;
    const bool latency = one.name == "time" && one.unit == "s";  // Bencher's own, in nanoseconds
    const double scale = latency ? 1e9 : 1;
    file[subjects[i]][latency ? "latency" : slug(one.name, '-')] = {{"value", scale * of.median},
                                                                    {"lower_value", scale * of.least},
                                                                    {"upper_value", scale * of.most}};
  }
  return file.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace ringcheck::reports
