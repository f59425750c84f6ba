// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "parity/case/case.h"
#include "property_tests/fuzz/parser.h"

namespace ringcheck::fuzz {
namespace {

using nlohmann::json;

bool parse(const std::string& text) {
  const json file = json::parse(text, nullptr, false);
  if (file.is_discarded()) return false;
  try {
    const parity::Case test = parity::case_from_json(file);
    demand(parity::case_from_json(parity::to_json(test)) == test, "the JSON of a case is the case");
  } catch (const parity::BadCase&) {
    return false;
  }
  return true;
}

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  for (const char* text : {"seed1", "subject:undivided/doc[9,8:10]/rope:half[10000,llama3]",
                           "ring:p2p/striped[2]/window[3]/scale:0.5/float64"})
    texts.push_back(parity::to_json(parity::parse_case(text)).dump());
  return texts;
}

const Parsers::Add add{"case_json", {parse, seeds}};

}  // namespace
}  // namespace ringcheck::fuzz
