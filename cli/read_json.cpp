// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/read_json.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/subcommand.h"

namespace ringcheck::cli {

nlohmann::json read_json(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw UsageError("cannot read '" + path + "'; want a JSON file");
  try {
    return nlohmann::json::parse(stream);
  } catch (const nlohmann::json::exception& error) {
    throw UsageError("'" + path + "' is no JSON: " + error.what());
  }
}

}  // namespace ringcheck::cli
