// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// As `ringcheck refusals --against` reads a list.
#include "cli/verify/refusals/refusals.h"

#include <nlohmann/json.hpp>

#include <stdexcept>

#include "cli/read_json.h"
#include "cli/usage_error.h"
#include "property_tests/fuzz/parser.h"

namespace ringcheck::fuzz {
namespace {

bool parse(const std::string& text) {
  try {
    const cli::Refusals list = cli::refusals_from_json(cli::read_json(file_of(text)));
    demand(cli::differences(list, list).empty(), "a list is itself");
    const cli::Refusals again = cli::refusals_from_json(nlohmann::json::parse(cli::to_json(list).dump()));
    demand(cli::differences(again, list).empty(), "what is written of a list is the list");
    demand(list.cases >= 0, "nobody refuses less than nothing");
  } catch (const cli::UsageError&) {
    return false;
  } catch (const std::invalid_argument&) {
    return false;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
  return true;
}

std::vector<std::string> seeds() {
  return {R"({"device": "cpu", "cases": 2, "kernels": {"plain": {}, "flash": {"too deep": 1}}})",
          committed("reports/refusals/cpu.json")};
}

const Parsers::Add add{"refusals", {parse, seeds}};

}  // namespace
}  // namespace ringcheck::fuzz
