// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/json_text.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/subcommand.h"

namespace ringcheck::cli {

std::string text_with_lines(const nlohmann::json& object, const std::string& member,
                            const nlohmann::json& elements) {
  std::string text = object.dump(1);
  text.resize(text.rfind('\n'));
  text += ",\n \"" + member + "\": [";
  const char* separator = "\n  ";
  for (const nlohmann::json& element : elements) {
    text += separator + element.dump();
    separator = ",\n  ";
  }
  return text + "\n ]\n}\n";
}

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
