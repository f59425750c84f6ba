// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/compare/join.h"

#include <algorithm>
#include <iterator>
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

// Throws where a run is of another kind, commit or machine than the first.
void check_like(const Result& first, const Result& run) {
  if (run.kind != first.kind)
    throw std::invalid_argument("is of kind " + to_text(run.kind) + ", the first of kind " + to_text(first.kind));
  if (run.environment.commit != first.environment.commit)
    throw std::invalid_argument("is of commit " + run.environment.commit + ", the first of " +
                                first.environment.commit);
  const auto found = differences(machine_of(first.environment), machine_of(run.environment));
  if (!found.empty()) throw std::invalid_argument("is of another machine than the first: " + found.front());
}

// Runs of the same series, and so of the same cases.
struct Group {
  std::string name;  // of the first run
  std::set<Of> series;
  std::map<std::string, Status> verdicts;
  std::vector<const Result*> runs;
};

bool overlap(const Group& a, const Group& b) {
  const auto of_b = [&b](const Of& one) { return b.series.contains(one); };
  const auto case_of_b = [&b](const auto& one) { return b.verdicts.contains(one.first); };
  return std::ranges::any_of(a.series, of_b) || std::ranges::any_of(a.verdicts, case_of_b);
}

// Throws where it has some of what a group has, and other things.
void add_run(const Result& run, const std::string& name, std::vector<Group>& groups) {
  const Group own{name, series_of(run), verdicts_of(run), {&run}};
  for (Group& group : groups) {
    if (!overlap(group, own)) continue;
    if (own.series != group.series)
      throw std::invalid_argument("has measured other series than '" + group.name + "', with which it has some in common");
    if (own.verdicts != group.verdicts)
      throw std::invalid_argument("has other cases, or another verdict of one, than '" + group.name + "'");
    return group.runs.push_back(&run);
  }
  groups.push_back(own);
}

std::vector<Measurement> medians_of(const Group& group) {
  std::vector<Measurement> all = group.runs[0]->measurements;
  std::map<Of, std::vector<Figure>> samples;
  for (const Result* run : group.runs)
    for (const Measurement& one : run->measurements) samples[of(one)].push_back(median(numbers(one.samples)));
  for (Measurement& one : all) one.samples = samples.at(of(one));
  return all;
}

}  // namespace

Result join(const std::vector<Result>& runs, const std::vector<std::string>& names) {
  std::vector<Group> groups;
  Result all = runs.at(0);
  all.cases.clear();
  all.measurements.clear();
  double wall = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    try {
      check_like(runs[0], runs[i]);
      add_run(runs[i], names[i], groups);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument("'" + names[i] + "' " + error.what());
    }
    wall += runs[i].environment.wall_seconds;
  }
  all.environment.wall_seconds = wall;
  for (const Group& group : groups) {
    const bool table = groups.size() > 1 && group.runs.size() == 1;
    std::ranges::copy(group.runs[0]->cases, std::back_inserter(all.cases));
    std::ranges::copy(table ? group.runs[0]->measurements : medians_of(group), std::back_inserter(all.measurements));
  }
  all.summary = summary_of(all.cases);
  return all;
}

}  // namespace ringcheck::reports
