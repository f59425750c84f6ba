// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Limits of detection, as `ringcheck detection` reads and prints them.
#include "cli/detection/limits.h"

#include <nlohmann/json.hpp>

#include <stdexcept>

#include "cli/read_json.h"
#include "cli/usage_error.h"
#include "property_tests/fuzz/parser.h"

namespace ringcheck::fuzz {
namespace {

using nlohmann::json;

bool parse(const std::string& text) {
  try {
    const cli::Limits limits = cli::limits_from_json(cli::read_json(file_of(text)));
    const json again = json::parse(cli::to_json(limits).dump());  // as a file has it
    demand(cli::to_json(cli::limits_from_json(again)) == again, "what is written of limits are the limits");
    cli::markdown_text(limits);
    cli::console_text(limits, reports::unpainted);
  } catch (const cli::UsageError&) {
    return false;
  } catch (const std::invalid_argument&) {
    return false;
  } catch (const json::exception&) {
    return false;
  }
  return true;
}

std::vector<std::string> seeds() {
  json file = json::parse(committed("reports/results/cpu_sensitivity.json"));
  json& own = file.at("sensitivity");
  json& limits = own.at("limits");
  limits = json::array({limits.front(), limits.back()});
  limits[1]["epsilon"] = nullptr;
  json older = own;  // before there were kinds
  older.update({{"commit", file.at("environment").at("commit")}, {"cpu", file.at("environment").at("cpu")}});
  return {file.dump(), older.dump(), cli::to_json(cli::limits_from_json(file)).dump()};
}

const Parsers::Add add{"limits", {parse, seeds}};

}  // namespace
}  // namespace ringcheck::fuzz
