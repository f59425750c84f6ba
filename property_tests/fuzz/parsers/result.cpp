// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// As `ringcheck report` reads it, prints it and renders it.
#include <nlohmann/json.hpp>

#include "cli/read_json.h"
#include "cli/usage_error.h"
#include "property_tests/fuzz/parser.h"
#include "reports/screen/console.h"
#include "reports/formats/format.h"
#include "reports/result.h"

namespace ringcheck::fuzz {
namespace {

using nlohmann::json;

bool parse(const std::string& text) {
  try {
    const reports::Result result = reports::result_from_json(cli::read_json(file_of(text)));
    const json again = reports::to_json(result);
    demand(reports::to_json(reports::result_from_json(again)) == again,
           "what is written of a result is the result");
    reports::console_report(result, reports::exit_code(result.cases));
    for (const auto& [name, format] : reports::formats()) format.text(result);
  } catch (const cli::UsageError&) {
    return false;
  } catch (const std::invalid_argument&) {
    return false;
  }
  return true;
}

// A case of every kind of finding, with little in it.
std::vector<std::string> seeds() {
  json file = json::parse(committed("reports/results/cpu_smoke.json"));
  json cases = json::array();
  for (json one : {file["cases"].front(), file["cases"].back()}) {
    one["oracles"] = json::array({one["oracles"].front()});
    json& tensors = one["oracles"][0]["tensors"];
    if (!tensors.empty()) tensors = json::array({tensors.front()});
    one["ranks"] = json::array({one["ranks"].front()});
    cases.push_back(one);
  }
  file["cases"] = cases;
  file["summary"].update({{"cases", 2}, {"passed", 2}});
  json old = file;
  old.erase("kind");
  old["schema_version"] = 1;
  json failed = file;
  failed["cases"][0]["verdict"] = "fail";
  failed["cases"][0]["oracles"][0]["verdict"] = "fail";
  failed["cases"][0]["findings"] = {"wrong"};
  failed["summary"].update({{"passed", 1}, {"failed", 1}});
  json bench = file;
  bench["kind"] = "bench";
  bench["measurements"] = json::array({{{"name", "time"}, {"parts", {{"a", "b"}}}, {"unit", "s"},
                                        {"samples", {1, "nan"}}, {"better", "smaller"}}});
  return {file.dump(), old.dump(), failed.dump(), bench.dump()};
}

const Parsers::Add add{"result", {parse, seeds}};

}  // namespace
}  // namespace ringcheck::fuzz
