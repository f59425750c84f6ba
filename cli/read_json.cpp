// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/read_json.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/subcommand.h"

namespace ringcheck::cli {

nlohmann::json read_json(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))  // a pipe would be waited for
    throw UsageError("cannot read '" + path + "': " +
                     (error ? error.message() : "it is no regular file") + "; want a JSON file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw UsageError("cannot read '" + path + "': " + std::strerror(errno) + "; want a JSON file");
  try {
    return nlohmann::json::parse(stream);
  } catch (const nlohmann::json::exception& error) {
    throw UsageError("'" + path + "' is no JSON: " + error.what());
  }
}

}  // namespace ringcheck::cli
