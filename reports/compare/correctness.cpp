// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/compare/correctness.h"

#include <algorithm>

#include "reports/compare/judgement.h"

namespace ringcheck::reports {
namespace {

using Changes = std::vector<Change>;

bool is_dead(const std::string& failure) { return failure == "hang" || failure == "crash"; }

void add_failures(Changes& changes, const Judgement& base, const Judgement& now) {
  for (const auto& [what, contract] : now.failures) {
    const ChangeKind kind = base.failures.contains(what) ? ChangeKind::kStillFails
                            : is_dead(what)              ? ChangeKind::kDead
                            : contract                   ? ChangeKind::kContract
                                                         : ChangeKind::kFails;
    changes.push_back({kind, now.name, what, {}, {}, now.reproduce, {}});
  }
  if (now.judged.empty()) return;  // nothing can pass
  for (const auto& [what, contract] : base.failures)
    if (!now.failures.contains(what))
      changes.push_back({ChangeKind::kPassesAgain, now.name, what, {}, {}, {}, {}});
}

// A dead case is judged by nobody, which goes without saying.
void add_unjudged(Changes& changes, const Judgement& base, const Judgement& now) {
  const bool dead = std::any_of(now.failures.begin(), now.failures.end(),
                                [](const auto& failure) { return is_dead(failure.first); });
  if (dead) return;
  if (now.judged.empty() && !base.judged.empty()) {
    changes.push_back({ChangeKind::kUnjudged, now.name, now.unjudged, {}, {}, now.reproduce, {}});
    return;
  }
  for (const std::string& what : base.judged)
    if (!now.judged.contains(what))
      changes.push_back({ChangeKind::kUnjudged, now.name, what, {}, {}, now.reproduce, {}});
}

std::string text_of(const std::set<int64_t>& values) {
  std::string text;
  for (const int64_t value : values) text += (text.empty() ? "" : " or ") + std::to_string(value);
  return text.empty() ? "none" : text;
}

// Of "rank 2: forward.steps" what is counted.
std::string counted(const std::string& name) { return name.substr(name.find(": ") + 2); }

// All of both sides, none of which is empty, within so many of each other.
bool within(const std::set<int64_t>& a, const std::set<int64_t>& b, int64_t difference) {
  return !a.empty() && !b.empty() &&
         std::max(*a.rbegin(), *b.rbegin()) - std::min(*a.begin(), *b.begin()) <= difference;
}

// Something that the base never had; what differs among its runs may be any of these.
bool is_new(const std::set<int64_t>& base, const std::set<int64_t>& now) {
  return now.empty() || !std::ranges::includes(base, now);
}

// Only what both sides counted: a case that did not run counts nothing, and a base from before there was
// a counter has it of no rank.
void add_counters(Changes& changes, const Judgement& base, const Judgement& now) {
  if (base.counters.empty() || (now.counters.empty() && now.judged.empty())) return;
  if (now.counters.empty()) {
    changes.push_back({ChangeKind::kCounter, now.name, "counters of ranks", std::to_string(base.counters.size()), "none", now.reproduce, {}});
    return;
  }
  std::map<std::string, std::pair<std::set<int64_t>, std::set<int64_t>>> both;
  std::set<std::string> known;
  for (const auto& [name, values] : base.counters) {
    both[name].first = values;
    known.insert(counted(name));
  }
  for (const auto& [name, values] : now.counters) both[name].second = values;
  for (const auto& [name, values] : both)
    if (known.contains(counted(name)) && is_new(values.first, values.second) &&
        !(counted(name) == "peak_bytes" && within(values.first, values.second, now.rounding)))
      changes.push_back({ChangeKind::kCounter, now.name, name, text_of(values.first),
                         text_of(values.second), now.reproduce, {}});
}

}  // namespace

Correctness compare_correctness(const Side& base, const Side& new_, const Ignored& ignored) {
  const auto before = judgements_of(base, ignored), now = judgements_of(new_, ignored);
  Correctness all;
  all.cases = static_cast<int64_t>(now.size());
  for (const auto& [key, judgement] : now) {
    const auto known = before.find(key);
    all.added += known == before.end();
    all.judged += !judgement.judged.empty();
    const Judgement& then = known == before.end() ? Judgement{} : known->second;
    add_failures(all.changes, then, judgement);
    add_unjudged(all.changes, then, judgement);
    add_counters(all.changes, then, judgement);
  }
  for (const auto& [key, judgement] : before)
    if (!now.contains(key))
      all.changes.push_back(
          {ChangeKind::kVanished, judgement.name, "the case", {}, {}, judgement.reproduce, {}});
  std::stable_sort(all.changes.begin(), all.changes.end(),
                   [](const Change& a, const Change& b) { return a.kind < b.kind; });
  return all;
}

}  // namespace ringcheck::reports
