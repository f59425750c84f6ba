// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What `ringcheck calibrate` would write over.
#include <nlohmann/json.hpp>

#include "cli/detection/contract_file.h"
#include "cli/usage_error.h"
#include "property_tests/fuzz/parser.h"

namespace ringcheck::fuzz {
namespace {

bool parse(const std::string& text) {
  try {
    cli::check_contract_file(file_of(text), "plain");
  } catch (const cli::UsageError&) {
    return false;
  }
  return true;
}

std::vector<std::string> seeds() {
  nlohmann::json file = nlohmann::json::parse(committed("kernels/plain.contract.json"));
  const nlohmann::json charts = file["charts"];
  file["charts"] = {{charts.begin().key(), charts.front()}};
  return {file.dump()};
}

std::vector<std::string> refused() { return {R"({"kernel":"flash","dtypes":{},"charts":{}})"}; }

const Parsers::Add add{"contract", {parse, seeds, refused}};

}  // namespace
}  // namespace ringcheck::fuzz
