// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// As `ringcheck faults --merge` and `ringcheck detection` read it.
#include <nlohmann/json.hpp>

#include "cli/detection/kill_matrix.h"
#include "cli/read_json.h"
#include "cli/usage_error.h"
#include "property_tests/fuzz/parser.h"

namespace ringcheck::fuzz {
namespace {

using nlohmann::json;

bool parse(const std::string& text) {
  try {
    const cli::KillMatrix matrix = cli::matrix_from_json(cli::read_json(file_of(text)));
    cli::console_text(matrix, 0, reports::unpainted);
    cli::to_json(matrix);
    parity::survivors_of_judging(matrix.cells);
  } catch (const cli::UsageError&) {
    return false;
  } catch (const json::exception&) {
    return false;
  } catch (const std::invalid_argument&) {  // parity::BadCase among them
    return false;
  }
  return true;
}

std::vector<std::string> seeds() {
  json file = json::parse(committed("reports/results/cpu_faults.json"));
  json& faults = file["faults"];
  faults["cells"] = json::array({faults["cells"].front(), faults["cells"].back()});
  json shard = file;
  shard["faults"]["shard"] = "1/2";
  shard["faults"]["profile"] = "smoke";
  shard["faults"]["dtypes"] = {"bf16"};
  return {file.dump(), shard.dump()};
}

const Parsers::Add add{"kill_matrix", {parse, seeds}};

}  // namespace
}  // namespace ringcheck::fuzz
