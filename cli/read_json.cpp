// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/read_json.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/usage_error.h"
#include "reports/envelope.h"

namespace ringcheck::cli {
namespace {

constexpr uint64_t kMostCounted = uint64_t{1} << 53;

}  // namespace

std::string read_text(const std::string& path, const std::string& want) {
  const auto fail = [&](const std::string& why) {
    throw UsageError("cannot read '" + path + "': " + why + "; want " + want);
  };
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))  // a pipe would be waited for
    fail(error ? error.message() : "it is no regular file");
  std::ifstream stream(path, std::ios::binary);
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  if (!stream || error) fail(std::strerror(errno));
  if (bytes > reports::kMostBytes)
    fail("it has " + std::to_string(bytes) + " bytes, and may have " + std::to_string(reports::kMostBytes));
  std::string text(bytes, ' ');
  stream.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<size_t>(stream.gcount()));
  if (stream.bad()) fail(std::strerror(errno));
  return text;
}

int64_t count_in(const nlohmann::json& value, const std::string& of) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > kMostCounted)
    throw std::invalid_argument(of + " is " + value.dump() + "; want a count");
  return value;
}

nlohmann::json read_json(const std::string& path, const std::string& fix) {
  const std::string text = read_text(path, "a JSON file");
  if (text.starts_with("SQLite format 3"))
    throw UsageError("'" + path + "' is a database, no JSON; `ringcheck report export` writes a run of a history as a file");
  try {
    return reports::parse_json(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError("'" + path + "' is no JSON: " + error.what() + "; " + fix);
  }
}

}  // namespace ringcheck::cli
