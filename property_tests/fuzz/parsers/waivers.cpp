// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// As `ringcheck compare --waivers` and `verify --waivers` read them, and what they bear.
#include "reports/waivers.h"

#include <nlohmann/json.hpp>

#include "cli/read_json.h"
#include "cli/usage_error.h"
#include "property_tests/fuzz/parser.h"

namespace ringcheck::fuzz {
namespace {

bool parse(const std::string& text) {
  try {
    const reports::Waivers waivers(cli::read_json(file_of(text)), "2026-11-22");
    const auto lines = waivers.stale({{"a/b", "parity: dq"}}, {"a/b"});
    demand(waivers.reason("a/b", "parity: dq").empty() || !waivers.empty(), "no waiver bears nothing");
    demand(lines.empty() || !waivers.empty(), "no waiver is stale");
  } catch (const cli::UsageError&) {
    return false;
  } catch (const std::invalid_argument&) {
    return false;
  }
  return true;
}

std::vector<std::string> seeds() {
  return {R"({"waivers": []})",
          R"({"waivers": [{"case": "a/*", "finding": "*dq", "reason": "known", "until": "2027-01-31"}]})",
          R"({"waivers": [{"case": "*[?", "finding": "x", "reason": "r", "until": "2020-02-29"}]})"};
}

const Parsers::Add add{"waivers", {parse, seeds}};

}  // namespace
}  // namespace ringcheck::fuzz
