// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/history/plain_text.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "reports/text.h"

namespace ringcheck::reports {
namespace {

void check(const std::string& what, const std::string& text, size_t most) {
  if (const std::string why = not_plain(text, most); !why.empty())
    throw std::invalid_argument("its " + what + " " + why);
}

void check_parts(const std::map<std::string, std::string>& parts) {
  for (const auto& [name, value] : parts) {
    check("part", name, kMostOfFact);
    check(name, value, kMostOfText);
  }
}

}  // namespace

std::string not_plain(const std::string& text, size_t most) {
  const auto refused = [&](const std::string& why) {
    return "'" + text + "' " + why + "; want at most " + std::to_string(most) +
           " bytes of UTF-8 without control characters";
  };
  if (text.size() > most) return refused("has " + std::to_string(text.size()) + " bytes");
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text, at);
    if (length == 0) return refused("is no UTF-8 at byte " + std::to_string(at));
    if (is_control(text, at)) return refused("has a control character at byte " + std::to_string(at));
    at += length;
  }
  return "";
}

void check_plain(const Environment& environment) {
  const nlohmann::json facts = to_json(environment);
  for (const auto& [name, fact] : facts.items())
    if (fact.is_string()) check(name, fact, name == "command" ? kMostOfText : kMostOfFact);
}

void check_plain(const Result& result) {
  check_plain(result.environment);
  for (const CaseResult& test : result.cases) {
    check("case", test.name, kMostOfText);
    check_parts(test.parts);
  }
  for (const Measurement& one : result.measurements) {
    check("measurement", one.name, kMostOfFact);
    check("unit", one.unit, kMostOfFact);
    check_parts(one.parts);
  }
}

}  // namespace ringcheck::reports
