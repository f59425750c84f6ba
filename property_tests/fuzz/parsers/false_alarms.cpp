// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A run of clean cases, as `ringcheck detection` counts and prints it.
#include "cli/detection/false_alarms.h"

#include <nlohmann/json.hpp>

#include <stdexcept>

#include "cli/read_json.h"
#include "cli/usage_error.h"
#include "property_tests/fuzz/parser.h"

namespace ringcheck::fuzz {
namespace {

bool parse(const std::string& text) {
  try {
    const cli::FalseAlarms alarms = cli::false_alarms_in(cli::read_json(file_of(text)));
    demand(alarms.alarms >= 0 && alarms.alarms <= alarms.judged, "an alarm is one of the cases");
    cli::to_text(alarms);
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
  return {R"({"summary": {"passed": 3, "failed": 0}})", R"({"summary": {"passed": 1, "failed": 2, "cases": 3}})"};
}

const Parsers::Add add{"false_alarms", {parse, seeds}};

}  // namespace
}  // namespace ringcheck::fuzz
