// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// SuperBench: results-summary.jsonl, a line for the node, "benchmark/metric:rank" to a number.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/counters.h"
#include "reports/formats/format.h"
#include "reports/formats/series.h"
#include "reports/formats/worst.h"
#include "reports/formats/verdict.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

void add(json& line, const std::string& metric, double value) {
  if (std::isfinite(value)) line[metric] = value;
}

// The most of any case; bytes that went to or came from one peer are left to the JSON.
void add_ranks(json& line, const std::string& benchmark, const Result& result) {
  std::map<std::string, int64_t> most;
  for (const CaseResult& test : result.cases)
    for (const RankResult& rank : test.ranks)
      for (const auto& [name, value] : counters_of(rank)) {
        if (name.starts_with("sent_to") || name.starts_with("received_from")) continue;
        int64_t& known = most[benchmark + name + ":" + std::to_string(rank.rank)];
        known = std::max(known, value);
      }
  for (const auto& [metric, value] : most) line[metric] = value;
}

}  // namespace

std::string superbench(const Result& result) {
  const std::string benchmark = "ringcheck-" + to_text(result.kind) + "/";
  json line{{"node", result.environment.host},
            {benchmark + "return_code", exit_code_of(result)},
            {benchmark + "wall_seconds", result.environment.wall_seconds.value}};
  for (const auto& [verdict, count] : counts_of(result)) line[benchmark + "cases/" + verdict] = count;
  for (const auto& [of, worst] : worst_of(result)) {
    const std::string place = benchmark + of.first + "/" + of.second + "/";
    add(line, place + "error_over_bound", worst.error);
    add(line, place + "sigmas", worst.sigmas);
    add(line, place + "blind", worst.blind);
  }
  add_ranks(line, benchmark, result);
  const std::vector<std::string> subjects = subjects_of(result);
  for (size_t i = 0; i < subjects.size(); ++i)
    if (const Sampled of = sampled(result.measurements[i]); !of.samples.empty())
      line[benchmark + subjects[i] + "/" + result.measurements[i].name] = of.median;
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace ringcheck::reports
