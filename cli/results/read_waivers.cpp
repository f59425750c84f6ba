// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/results/read_waivers.h"

#include <nlohmann/json.hpp>

#include "cli/environment.h"
#include "cli/read_json.h"
#include "cli/usage_error.h"

namespace ringcheck::cli {

reports::Waivers read_waivers(const std::string& path) {
  constexpr size_t kDay = 10;  // of 2026-11-22T05:28:01Z
  const nlohmann::json json = read_json(path, "want {\"waivers\": [...]}");
  try {
    return {json, environment().started.substr(0, kDay)};
  } catch (const std::invalid_argument& error) {
    throw UsageError("'" + path + "' is no file of waivers: " + error.what());
  }
}

}  // namespace ringcheck::cli
