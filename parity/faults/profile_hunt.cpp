// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/profile_hunt.h"

#include <algorithm>
#include <sstream>

#include "parity/case/conditions/cover.h"
#include "parity/faults/fault_effect.h"
#include "parity/judge/runner.h"

namespace ringcheck::parity {
namespace {

std::vector<std::string> parts_of(const Case& test) {
  std::istringstream text(to_text(test));
  std::vector<std::string> parts;
  for (std::string part; std::getline(text, part, '/');) parts.push_back(part);
  return parts;
}

int64_t in_common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::count_if(
      a, [&](const std::string& part) { return std::ranges::find(b, part) != b.end(); });
}

Verdict judged(const Case& test, const Fault& fault, const SharedSubject& subject,
               const Hunt& hunt) {
  RunOptions options;
  options.deadline = deadline_of(fault);
  options.subject = subject;
  options.judging.oracles = hunt.oracles;
  options.judging.drawn = hunt.drawn;
  return verify(test, options);
}

bool only_costs(const Verdict& verdict) {
  return std::ranges::none_of(verdict.oracles, [](const OracleVerdict& oracle) {
    return oracle.status == Status::kFail && !oracle.contract;
  });
}

// Planting a bug takes memory and messages that a real one would not: where a verdict complains of
// these alone, they must be what is wrong.
bool shows(const Fault& fault, const Verdict& verdict) {
  if (!killed(verdict)) return false;
  return verdict.status != Status::kFail || !only_costs(verdict) ||
         localises(fault.names, said_by(verdict));
}

void note_names(const Named& wanted, const Said& said, Cell& cell) {
  cell.localised = localises(wanted, said);
  if (!wanted.tensors.empty()) cell.names_tensor = names_tensor(wanted, said);
  if (wanted.rank >= 0) cell.names_rank = names_rank(wanted, said);
}

}  // namespace

std::vector<Case> likely_first(const Fault& fault, std::vector<Case> list) {
  std::vector<std::vector<std::string>> chosen;
  for (const at::ScalarType dtype : fault.dtypes)
    for (const Case& test : cases_of(fault, dtype)) chosen.push_back(parts_of(test));
  std::erase_if(list, [](const Case& test) {
    return test.world_kind != "thread" || test.subject != Method::kOurs;
  });
  using Rank = std::pair<int64_t, int64_t>;  // how unlike, and what it costs
  std::vector<std::pair<Rank, Case>> ranked;
  for (Case& test : list) {
    int64_t most = 0;
    for (const auto& parts : chosen) most = std::max(most, in_common(parts_of(test), parts));
    const int64_t cost = cost_of(test);
    ranked.emplace_back(Rank{-most, cost}, std::move(test));
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<Rank, Case>::first);
  list.clear();
  for (auto& [rank, test] : ranked) list.push_back(std::move(test));
  return list;
}

Cell hunt_among(const std::string& name, at::ScalarType dtype, const Hunt& hunt) {
  const Fault& fault = Faults::at(name);
  Cell cell;
  cell.fault = name;
  cell.dtype = dtype;
  cell.reason = cannot_show(fault, dtype, hunt);
  if (!cell.reason.empty()) return cell;
  cell.result = Cell::Result::kSurvived;
  for (const Case& test : likely_first(fault, hunt.among)) {
    ++cell.cases;
    const Verdict verdict = judged(test, fault, fault.subject, hunt);
    if (!shows(fault, verdict) || killed(judged(test, fault, fault.control, hunt))) continue;
    enter(verdict, cell);
    note_names(fault.names, said_by(verdict), cell);
    cell.test = to_text(test);
    return cell;
  }
  cell.reason = fault.equivalent.empty() ? "no case of the profile shows it" : fault.equivalent;
  if (!fault.equivalent.empty()) cell.result = Cell::Result::kEquivalent;
  return cell;
}

}  // namespace ringcheck::parity
