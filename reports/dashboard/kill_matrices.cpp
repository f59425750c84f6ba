// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/dashboard/details.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

constexpr size_t kMatrices = 8;

// The oracles that were asked, and who else sees a bug: `deadline` a hang, `crash` a rank that ends.
json seers_of(const json& faults) {
  json names = faults.at("oracles");
  for (const json& cell : faults.at("cells"))
    for (const auto& [name, verdict] : cell.at("seen_by").items())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

// Which oracles saw it, and which were asked and did not, by their numbers.
json numbers_of(const json& cell, const json& oracles, const char* verdict) {
  const json& seen = cell.at("seen_by");
  json numbers = json::array();
  for (size_t i = 0; i < oracles.size(); ++i)
    if (seen.value(oracles[i].get<std::string>(), "") == verdict) numbers.push_back(i);
  return numbers;
}

// The finding of a fault stands where it is first met: in other dtypes it says the same of other
// numbers.
json matrix_of(const json& file) {
  const json& faults = file.contains("faults") ? file.at("faults") : file;  // version 1
  const json oracles = seers_of(faults);
  json cells = json::array();
  std::string before;
  for (const json& cell : faults.at("cells")) {
    const std::string fault = cell.at("fault");
    cells.push_back({fault == before ? json() : json(fault), cell.at("dtype"), cell.at("result"),
                     cell.value("killer", ""), cell.value("localised", false) ? 1 : 0,
                     numbers_of(cell, oracles, "fail"), numbers_of(cell, oracles, "pass"),
                     fault == before && cell.at("result") != "survived" ? "" : cell.value("finding", "")});
    before = fault;
  }
  return {{"oracles", oracles}, {"cells", std::move(cells)}, {"profile", faults.value("profile", "")},
          {"score", faults.at("score")}};
}

}  // namespace

void add_kill_matrices(History& history, const ChosenRuns& runs, json& page) {
  json matrices = json::array();
  for (size_t i = runs.rows.size(); i-- > 0 && matrices.size() < kMatrices;)
    if (runs.rows[i].kind == "faults") {
      json matrix = read_file(history, runs.rows[i], page, matrix_of);
      if (matrix.is_null()) continue;
      matrix["run"] = i;
      matrices.push_back(std::move(matrix));
    }
  page["matrices"] = std::move(matrices);
}

}  // namespace ringcheck::reports
