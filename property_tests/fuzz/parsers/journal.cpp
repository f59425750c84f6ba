// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// As `ringcheck result recover` reads it.
#include <nlohmann/json.hpp>

#include <stdexcept>

#include "property_tests/fuzz/parser.h"
#include "reports/journal.h"

namespace ringcheck::fuzz {
namespace {

using nlohmann::json;

bool parse(const std::string& text) {
  try {
    const reports::Journaled known = reports::read_journal(text);
    demand(known.ended.size() == known.result.cases.size(),
           "a journal says of each case whether it ended");
    demand(!known.running || (*known.running < known.ended.size() && !known.ended[*known.running]),
           "the case that runs is one of the journal's, and has not ended");
    reports::to_json(known.result);
  } catch (const std::invalid_argument&) {
    return false;
  }
  return true;
}

// A run of two cases: none begun, one that runs, one that ended, and a line that is cut.
std::vector<std::string> seeds() {
  json run = json::parse(committed("reports/results/cpu_smoke.json"));
  json one = run["cases"].front();
  one["oracles"] = json::array({one["oracles"].front()});
  one["ranks"] = json::array({one["ranks"].front()});
  json skipped = one;
  skipped["verdict"] = "skipped";
  run["cases"] = json::array({skipped, skipped});
  run["journal"] = 1;
  const std::string head = run.dump() + "\n", began = head + "{\"began\": 0, \"at\": 0.5}\n";
  const std::string ended = json{{"ended", 0}, {"at", 0.9}, {"case", one}}.dump() + "\n";
  return {head, began, began + ended, began + ended.substr(0, ended.size() / 2)};
}

const Parsers::Add add{"journal", {parse, seeds}};

}  // namespace
}  // namespace ringcheck::fuzz
