// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/results/read_result.h"

#include <nlohmann/json.hpp>

#include "cli/read_json.h"
#include "cli/usage_error.h"

namespace ringcheck::cli {

reports::Run read_run(const std::string& path) {
  const nlohmann::json json = read_json(path);
  try {
    return reports::run_of(json);
  } catch (const std::exception& error) {
    throw UsageError("'" + path + "' is no result of RingCheck: " + error.what() +
                     "; name a file that --json wrote");
  }
}

reports::Result whole_result(const std::string& name, const nlohmann::json& file) {
  if (file.contains("summary_of"))
    throw UsageError("'" + name + "' is a summary, which has no cases; want a whole result, or a dashboard: ringcheck report html");
  try {
    return reports::result_from_json(file);
  } catch (const std::invalid_argument& error) {
    throw UsageError("'" + name + "' is no result of RingCheck: " + error.what() + "; name another one");
  }
}

reports::Result read_result_with_cases(const std::string& path) {
  const nlohmann::json json = read_json(path);
  try {
    reports::Result result = reports::result_from_json(json);
    if (!reports::has_cases(result.kind))
      throw std::invalid_argument("it is of kind " + reports::to_text(result.kind));
    return result;
  } catch (const std::exception& error) {
    throw UsageError("'" + path +
                     "' is no result with cases: " + error.what() +
                     "; name one of `ringcheck verify --json`");
  }
}

}  // namespace ringcheck::cli
