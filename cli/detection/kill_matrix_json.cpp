// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/json_text.h"
#include "cli/detection/kill_matrix.h"
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
  }
  for (const auto& [peer, status] : cell.peers) json["peers"][peer] = to_text(status);
  if (!cell.reason.empty()) json["reason"] = cell.reason;
  if (!cell.unclean.empty()) json["unclean"] = cell.unclean;
  return json;
}

Cell cell_from_json(const nlohmann::json& json) {
  Cell cell;
  cell.fault = json.at("fault");
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
  cell.reason = json.value("reason", "");
  cell.unclean = json.value("unclean", std::vector<std::string>());
  return cell;
}

std::string json_text(const KillMatrix& matrix) {
  const auto score = [](const Score& s) {
    return nlohmann::json{{"killed", s.killed}, {"survived", s.survived},
                          {"equivalent", s.equivalent}, {"localised", s.localised}};
  };
  nlohmann::json head{{"schema", 1},
                      {"commit", matrix.environment.commit},
                      {"cpu", matrix.environment.cpu},
                      {"cores", matrix.environment.cores},
                      {"oracles", matrix.oracles},
                      {"self_test", {{"demands", matrix.self_test.demands},
                                     {"failures", matrix.self_test.failures}}},
                      {"seconds", std::round(matrix.seconds)},
                      {"score", score(parity::score_of(matrix.cells))},
                      {"faults", score(score_by_fault(matrix))},
                      {"unclean", unclean(matrix)}};
  for (const auto& [peer, theirs] : scores_of_peers(matrix)) head["peers"][peer] = score(theirs);
  for (const std::string& dtype : dtypes_of(matrix))
    head["by_dtype"][dtype] = score(score_in(matrix, dtype));
  nlohmann::json cells = nlohmann::json::array();
  for (const Cell& cell : matrix.cells) cells.push_back(to_json(cell));
  return text_with_lines(head, "cells", cells);
}

KillMatrix matrix_from_json(const nlohmann::json& json) {
  KillMatrix matrix;
  matrix.environment.commit = json.at("commit");
  matrix.environment.cpu = json.at("cpu");
  matrix.environment.cores = json.at("cores");
  matrix.oracles = json.at("oracles");
  matrix.self_test.demands = json.at("self_test").at("demands");
  matrix.self_test.failures = json.at("self_test").at("failures");
  matrix.seconds = json.at("seconds");
  for (const nlohmann::json& cell : json.at("cells")) matrix.cells.push_back(cell_from_json(cell));
  return matrix;
}

}  // namespace ringcheck::cli
