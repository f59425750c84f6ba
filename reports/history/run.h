// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "reports/result.h"

namespace ringcheck::reports {

// A result as a history holds it: whole, and what its tables are asked for.
struct Run {
  struct Point {
    std::string name, parts, unit, better, samples;  // parts and samples: JSON
    double median;
    std::optional<double> keep_to;
  };
  struct Verdict {
    std::string name, parts, verdict, finding, counters;  // parts and counters: JSON
    bool contract;
    double seconds;
    std::optional<double> margin, worst_z, vacuity;  // the largest of its tensors
    int64_t unjudged;
  };

  std::string id;  // a UUID of version 5 (RFC 4122), made of the content: two equal results are one run
  Kind kind;
  Environment environment;
  Summary summary;
  Judged judged;
  std::string text;  // the file, as file_text writes it
  std::vector<Point> points;
  std::vector<Verdict> verdicts;
};

// Throws std::invalid_argument where it is no result, or of a version that this program does not read.
Run run_of(const nlohmann::json& file);

}  // namespace ringcheck::reports
