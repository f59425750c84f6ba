// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/detection/kill_matrix.h"
#include "cli/detection/opened.h"
#include "cli/detection/peer_scores.h"

namespace ringcheck::cli {
namespace {

using parity::Cell;
using parity::Score;

template <class Value>
Value named(std::initializer_list<Value> values, const std::string& text) {
  for (const Value value : values)
    if (parity::to_text(value) == text) return value;
  throw std::invalid_argument("no such verdict: '" + text + "'");
}

parity::Status status_from(const std::string& text) {
  using enum parity::Status;
  return named({kPass, kFail, kInconclusive, kNotCalibrated, kNotApplicable}, text);
}

Cell::Result result_from(const std::string& text) {
  using enum Cell::Result;
  return named({kKilled, kSurvived, kEquivalent, kNotApplicable}, text);
}

}  // namespace

nlohmann::json to_json(const Cell& cell) {
  nlohmann::json seen = nlohmann::json::object();
  for (const auto& [oracle, status] : cell.seen_by) seen[oracle] = to_text(status);
  nlohmann::json json{{"fault", cell.fault},
                      {"dtype", parity::dtype_text(cell.dtype)},
                      {"result", parity::to_text(cell.result)},
                      {"seen_by", seen}};
  if (cell.result == Cell::Result::kKilled) {
    json["killer"] = cell.killer;
    json["milliseconds"] = std::round(100 * cell.milliseconds) / 100;
    json["localised"] = cell.localised;
    json["finding"] = cell.finding;
    if (cell.names_tensor) json["names_tensor"] = *cell.names_tensor;
    if (cell.names_rank) json["names_rank"] = *cell.names_rank;
  }
  for (const auto& [peer, status] : cell.peers) json["peers"][peer] = to_text(status);
  if (cell.cases > 0) json["cases"] = cell.cases;
  if (!cell.test.empty()) json["case"] = cell.test;
  if (!cell.reason.empty()) json["reason"] = cell.reason;
  if (!cell.unclean.empty()) json["unclean"] = cell.unclean;
  return json;
}

Cell cell_from_json(const nlohmann::json& json) {
  Cell cell;
  cell.fault = json.at("fault");
  if (!parity::Faults::all().contains(cell.fault))
    throw std::invalid_argument("it has a cell of fault '" + cell.fault + "', which is none");
  cell.dtype = parity::parse_dtype(json.at("dtype"));
  cell.result = result_from(json.at("result"));
  for (const auto& [oracle, status] : json.at("seen_by").items())
    cell.seen_by[oracle] = status_from(status);
  if (json.contains("peers"))
    for (const auto& [peer, status] : json["peers"].items()) cell.peers[peer] = status_from(status);
  cell.killer = json.value("killer", "");
  cell.milliseconds = json.value("milliseconds", 0.0);
  cell.localised = json.value("localised", false);
  cell.finding = json.value("finding", "");
  if (json.contains("names_tensor")) cell.names_tensor = json["names_tensor"].get<bool>();
  if (json.contains("names_rank")) cell.names_rank = json["names_rank"].get<bool>();
  cell.cases = json.value("cases", 0);
  cell.test = json.value("case", "");
  cell.reason = json.value("reason", "");
  cell.unclean = json.value("unclean", std::vector<std::string>());
  return cell;
}

nlohmann::json to_json(const KillMatrix& matrix) {
  const auto score = [](const Score& s) {
    return nlohmann::json{{"killed", s.killed}, {"survived", s.survived},
                          {"equivalent", s.equivalent}, {"localised", s.localised}};
  };
  nlohmann::json own{{"oracles", matrix.oracles},
                     {"self_test", {{"demands", matrix.self_test.demands},
                                    {"failures", matrix.self_test.failures}}},
                     {"score", score(parity::score_of(matrix.cells))},
                     {"by_fault", score(score_by_fault(matrix))},
                     {"by_dtype", nlohmann::json::object()},
                     {"peers", nlohmann::json::object()},
                     {"unclean", unclean(matrix)},
                     {"cells", nlohmann::json::array()}};
  if (!matrix.profile.empty()) own["profile"] = matrix.profile;
  if (!matrix.dtypes.empty()) own["dtypes"] = matrix.dtypes;
  if (!matrix.shard.empty()) own["shard"] = matrix.shard;
  for (const auto& [peer, theirs] : scores_of_peers(matrix)) own["peers"][peer] = score(theirs);
  if (matrix.profile.empty())  // the cells of a profile are in no one dtype
    for (const std::string& dtype : dtypes_of(matrix))
      own["by_dtype"][dtype] = score(score_in(matrix, dtype));
  for (const Cell& cell : matrix.cells) own["cells"].push_back(to_json(cell));
  return reports::envelope(reports::Kind::kFaults, matrix.environment, own);
}

KillMatrix matrix_from_json(const nlohmann::json& file) {
  const auto [environment, json] = opened(file, reports::Kind::kFaults);
  KillMatrix matrix;
  matrix.environment = environment;
  matrix.oracles = json.at("oracles");
  matrix.profile = json.value("profile", "");
  matrix.dtypes = json.value("dtypes", std::vector<std::string>());
  matrix.shard = json.value("shard", "");
  matrix.self_test.demands = json.at("self_test").at("demands");
  matrix.self_test.failures = json.at("self_test").at("failures");
  for (const nlohmann::json& cell : json.at("cells")) matrix.cells.push_back(cell_from_json(cell));
  return matrix;
}

}  // namespace ringcheck::cli
