// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/compare/join.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <stdexcept>
#include <utility>

#include "reports/machine.h"
#include "reports/median.h"

namespace ringcheck::reports {
namespace {

// Of what.
using Of = std::pair<std::string, std::map<std::string, std::string>>;

Of of(const Measurement& series) { return {series.name, series.parts}; }

// In which unit, and which way is better.
std::map<Of, std::pair<std::string, std::string>> series_of(const Result& run) {
  std::map<Of, std::pair<std::string, std::string>> all;
  for (const Measurement& one : run.measurements)
    if (!all.insert({of(one), {one.unit, one.better}}).second) throw std::invalid_argument("has " + one.name + " of the same parts twice");
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

// Runs of the same series and cases.
struct Group {
  std::string name;  // of the first run
  std::map<Of, std::pair<std::string, std::string>> series;
  std::map<std::string, Status> verdicts;
  std::vector<const Result*> runs;
};

// Something that both have; empty where nothing is.
std::string in_both(const Group& a, const Group& b) {
  for (const auto& [one, unit] : a.series)
    if (b.series.contains(one)) return one.first;
  for (const auto& [name, verdict] : a.verdicts)
    if (b.verdicts.contains(name)) return name;
  return "";
}

// Throws where it has some of what a group has, and other things.
void add_run(const Result& run, const std::string& name, std::vector<Group>& groups) {
  Group own{name, series_of(run), verdicts_of(run), {&run}};
  if (own.series.empty() && own.verdicts.empty()) throw std::invalid_argument("has neither a case nor a series");
  for (Group& group : groups) {
    const std::string shared = in_both(group, own);
    if (shared.empty()) continue;
    const std::string but = " than '" + group.name + "', which has " + shared + ", too";
    const auto keys = [](const Group& of) { return std::views::keys(of.series); };
    if (!std::ranges::equal(keys(own), keys(group))) throw std::invalid_argument("has measured other series" + but);
    if (own.series != group.series) throw std::invalid_argument("has measured in another unit, or calls another way better," + but);
    if (own.verdicts != group.verdicts) throw std::invalid_argument("has other cases, or another verdict of one," + but);
    return group.runs.push_back(&run);
  }
  groups.push_back(std::move(own));
}

// Throws where some were run once and others again: of those a sample is the median of a run, of these it is not.
void check_counts(const std::vector<Group>& groups) {
  if (groups.size() == 1) return;
  for (const Group& group : groups)
    if (group.runs.size() > 1)
      throw std::invalid_argument("'" + group.name + "' was run " + std::to_string(group.runs.size()) +
                                  " times, beside other series");
}

std::vector<Measurement> medians_of(const Group& group) {
  std::vector<Measurement> all = group.runs[0]->measurements;
  std::map<Of, std::vector<Figure>> samples;
  for (const Result* run : group.runs)
    for (const Measurement& one : run->measurements) samples[of(one)].push_back(median(numbers(one.samples)));
  for (Measurement& one : all) one.samples = samples.at(of(one));
  return all;
}

// Of the first run, but for when they began, how long they took, and what was called.
Environment environment_of(const std::vector<Result>& runs) {
  Environment all = runs[0].environment;
  std::vector<std::string> commands;
  double wall = 0;
  for (const Result& run : runs) {
    all.started = std::min(all.started, run.environment.started);
    wall += run.environment.wall_seconds;
    if (std::ranges::find(commands, run.environment.command) == commands.end())
      commands.push_back(run.environment.command);
  }
  all.wall_seconds = wall;
  all.command = commands[0];
  for (size_t i = 1; i < commands.size(); ++i) all.command += "; " + commands[i];
  return all;
}

}  // namespace

Result join(const std::vector<Result>& runs, const std::vector<std::string>& names) {
  std::vector<Group> groups;
  for (size_t i = 0; i < runs.size(); ++i) {
    try {
      check_like(runs[0], runs[i]);
      add_run(runs[i], names[i], groups);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument("'" + names[i] + "' " + error.what());
    }
  }
  check_counts(groups);
  Result all = runs.at(0);
  all.environment = environment_of(runs);
  all.cases.clear();
  all.measurements.clear();
  for (const Group& group : groups) {
    std::ranges::copy(group.runs[0]->cases, std::back_inserter(all.cases));
    std::ranges::copy(groups.size() == 1 ? medians_of(group) : group.runs[0]->measurements, std::back_inserter(all.measurements));
  }
  all.summary = summary_of(all.cases);
  return all;
}

}  // namespace ringcheck::reports
