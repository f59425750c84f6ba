// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/compare/judgement.h"

#include <algorithm>
#include <iterator>

#include "reports/counters.h"
#include "reports/failures.h"
#include "reports/text.h"

namespace ringcheck::reports {
namespace {

std::set<std::string> judged_of(const CaseResult& test) {
  std::set<std::string> judged;
  if (!was_judged(test.verdict)) return judged;
  judged.insert("the case");
  for (const OracleResult& oracle : test.oracles) {
    if (was_judged(oracle.verdict)) judged.insert("oracle " + oracle.name);
    for (const TensorResult& tensor : oracle.tensors) {
      const std::string of = " of " + tensor.tensor + " by " + oracle.name;
      if (was_judged(tensor.chart)) judged.insert("chart" + of);
      if (was_judged(tensor.bias_verdict)) judged.insert("bias" + of);
    }
  }
  for (const auto& [tensor, ranks] : test.judged)
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      if (ranks[rank] == "bounded" || ranks[rank] == "exact")
        judged.insert(tensor + " of rank " + std::to_string(rank));
  return judged;
}

// The peak of everything in the process of a function in Python depends on which thread is the last to let
// go of a buffer (docs/python.md): no two runs need to have the same.
bool repeats(const CaseResult& test, const std::string& counter) {
  const auto subject = test.parts.find("subject");
  return counter != "peak_bytes" || subject == test.parts.end() || !subject->second.starts_with("python[");
}

void add(Judgement& all, const CaseResult& test, bool first) {
  all.name = test.name;
  for (const auto& [what, contract] : failures_of(test)) {
    all.failures[what] = contract;
    all.reproduce = test.reproduce;
  }
  if (all.reproduce.empty()) all.reproduce = test.reproduce;
  const std::set<std::string> judged = judged_of(test);
  if (judged.empty()) all.unjudged = to_text(test.verdict) + ": " + headline(test);
  if (first) all.judged = judged;
  else std::erase_if(all.judged, [&](const std::string& what) { return !judged.contains(what); });
  if (!was_judged(test.verdict)) return;
  const auto device = test.parts.find("device");
  if (device != test.parts.end() && device->second == "cuda")
    all.rounding = (int64_t{1} << 20) + 512 * (32 + 2 * static_cast<int64_t>(test.ranks.size()));
  for (const RankResult& rank : test.ranks)
    for (const auto& [name, value] : counters_of(rank))
      if (repeats(test, name)) all.counters["rank " + std::to_string(rank.rank) + ": " + name].insert(value);
}

}  // namespace

std::map<std::string, Judgement> judgements_of(const Side& side, const Ignored& ignored) {
  std::map<std::string, Judgement> all;
  for (size_t i = 0; i < side.runs.size(); ++i) {
    std::map<std::string, std::string> here;
    for (const CaseResult& test : side.runs[i].cases) {
      const std::string key = key_of(test, ignored);
      const auto [known, is_new] = here.emplace(key, test.name);
      if (!is_new)
        throw Incomparable("'" + side.names[i] + "' has both " + known->second + " and " + test.name +
                           ", and what --ignore leaves of them is the same");
      const bool first = !all.contains(key);
      add(all[key], test, first);
    }
  }
  return all;
}

}  // namespace ringcheck::reports
