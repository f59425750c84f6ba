// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/compare/comparison.h"

#include <algorithm>
#include <map>
#include <set>

#include "reports/exit_codes.h"
#include "reports/failures.h"

namespace ringcheck::reports {
namespace {

void check_common(const Comparison& all) {
  if (all.correctness.cases > all.correctness.added || !all.speeds.series.empty()) return;
  const Result &base = all.base.runs.front(), &now = all.new_.runs.front();
  const auto first = [](const Result& run) {
    return run.cases.empty() ? key_of(run.measurements.front(), {}) : run.cases.front().name;
  };
  throw Incomparable("'" + all.base.names.front() + "' and '" + all.new_.names.front() +
                     "' have no case and no measurement in common; the first of one is " + first(base) +
                     ", of the other " + first(now) + "; --ignore PART compares across a part");
}

}  // namespace

std::vector<Change> Comparison::changes() const {
  std::vector<Change> all = correctness.changes;
  all.insert(all.end(), speeds.vanished.begin(), speeds.vanished.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const Change& a, const Change& b) { return a.kind < b.kind; });
  return all;
}

Comparison compare(Side base, Side new_, const Ignored& ignored, const SpeedQuestion& question) {
  check_comparable(base, new_, ignored);
  Comparison all{std::move(base), std::move(new_), question, {}, {}};
  all.correctness = compare_correctness(all.base, all.new_, ignored);
  all.speeds = compare_speed(all.base, all.new_, ignored, question);
  check_common(all);
  return all;
}

void apply(const Waivers& waivers, Comparison& comparison) {
  std::vector<Waivers::Finding> found;
  for (auto* changes : {&comparison.correctness.changes, &comparison.speeds.vanished})
    for (Change& change : *changes) {
      if (change.kind == ChangeKind::kPassesAgain) continue;
      found.push_back({change.where, change.what});
      change.waived = waivers.reason(change.where, change.what);
    }
  std::set<std::string> judged;
  for (const Result& run : comparison.new_.runs)
    for (const CaseResult& test : run.cases)
      if (was_judged(test.verdict)) judged.insert(test.name);
  for (const std::string& line : waivers.stale(found, judged))
    comparison.correctness.changes.push_back({ChangeKind::kStaleWaiver, "waivers", line, {}, {}, {}, {}});
}

int exit_code(const Comparison& comparison) {
  std::set<int> codes;
  for (const Change& change : comparison.changes())
    if (change.waived.empty()) codes.insert(exit_code(change.kind));
  for (const Speed& speed : comparison.speeds.series) {
    if (speed.verdict == SpeedVerdict::kSlower) codes.insert(exit_codes::kSlower);
    if (speed.verdict == SpeedVerdict::kInconclusive) codes.insert(exit_codes::kInconclusive);
  }
  for (const int code : exit_codes::kBySeverity)
    if (codes.contains(code)) return code;
  return comparison.correctness.judged + comparison.speeds.tests == 0 ? exit_codes::kNothingRan : 0;
}

std::string headline(const Comparison& comparison) {
  std::map<ChangeKind, int64_t> counts;
  int64_t waived = 0;
  for (const Change& change : comparison.changes()) {
    if (change.waived.empty()) ++counts[change.kind];
    else ++waived;
  }
  std::string text;
  const auto add = [&](int64_t count, const std::string& what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  for (const auto& [kind, count] : counts)
    if (is_worse(kind)) add(count, to_text(kind));
  std::map<SpeedVerdict, int64_t> speeds;
  for (const Speed& speed : comparison.speeds.series) ++speeds[speed.verdict];
  add(speeds[SpeedVerdict::kSlower], "slower");
  add(speeds[SpeedVerdict::kInconclusive], "inconclusive");
  if (text.empty()) text = "nothing is worse";
  add(waived, "waived");
  return text;
}

}  // namespace ringcheck::reports
