// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/compare/join.h"

#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "reports/machine.h"
#include "reports/median.h"

namespace ringcheck::reports {
namespace {

// Of what, in which unit, and which way is better.
using Of = std::tuple<std::string, std::map<std::string, std::string>, std::string, std::string>;

Of of(const Measurement& series) { return {series.name, series.parts, series.unit, series.better}; }

std::set<Of> series_of(const Result& run) {
  std::set<Of> all;
  for (const Measurement& one : run.measurements)
    if (!all.insert(of(one)).second) throw std::invalid_argument("has " + one.name + " of the same parts twice");
  return all;
}

std::map<std::string, Status> verdicts_of(const Result& run) {
  std::map<std::string, Status> all;
  for (const CaseResult& test : run.cases) all[test.name] = test.verdict;
  return all;
}

// What the first one has in common with it.
void check_like(const Result& first, const Result& run) {
  if (run.kind != first.kind)
    throw std::invalid_argument("is of kind " + to_text(run.kind) + ", the first of kind " + to_text(first.kind));
  if (run.environment.commit != first.environment.commit)
    throw std::invalid_argument("is of commit " + run.environment.commit + ", the first of " +
                                first.environment.commit);
  const auto found = differences(machine_of(first.environment), machine_of(run.environment));
  if (!found.empty()) throw std::invalid_argument("is of another machine than the first: " + found.front());
  if (series_of(run) != series_of(first)) throw std::invalid_argument("has measured other series than the first");
  if (verdicts_of(run) != verdicts_of(first))
    throw std::invalid_argument("has other cases, or another verdict of one, than the first");
}

}  // namespace

Result join(const std::vector<Result>& runs, const std::vector<std::string>& names) {
  Result all = runs.at(0);
  double wall = 0;
  std::map<Of, std::vector<Figure>> samples;
  for (size_t i = 0; i < runs.size(); ++i) {
    try {
      check_like(runs[0], runs[i]);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument("'" + names[i] + "' " + error.what());
    }
    wall += runs[i].environment.wall_seconds;
    for (const Measurement& one : runs[i].measurements)
      samples[of(one)].push_back(median(numbers(one.samples)));
  }
  all.environment.wall_seconds = wall;
  for (Measurement& one : all.measurements) one.samples = samples.at(of(one));
  return all;
}

}  // namespace ringcheck::reports
