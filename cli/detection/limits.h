// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "parity/faults/sensitivity.h"
#include "reports/result.h"
#include "reports/screen/tone.h"

namespace ringcheck::cli {

// What a run of `ringcheck faults --sensitivity` found.
struct Limits {
  reports::Environment environment;
  std::string kernel;
  int64_t trials = 0;
  std::vector<parity::Limit> list;
};

// Tables, one a dtype: a row for every place of an error, a column for every detector. "inf": no
// error of up to 100 is seen; "-": the detector does not look there. On the console our own
// detectors only.
std::string console_text(const Limits& limits, const reports::Paint& paint);
std::string markdown_text(const Limits& limits);

// A result of kind sensitivity. Reading throws nlohmann::json::exception or std::invalid_argument
// where it is none.
nlohmann::json to_json(const Limits& limits);
Limits limits_from_json(const nlohmann::json& file);

}  // namespace ringcheck::cli
