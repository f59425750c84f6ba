// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/events.h"

namespace ringcheck::reports {
namespace {

int64_t events_of(const CaseResult& test) {
  size_t sum = 0;
  for (const RankResult& rank : test.ranks)
    sum += rank.forward.events.size() + rank.backward.events.size();
  return static_cast<int64_t>(sum);
}

void forget_events(CaseResult& test) {
  for (RankResult& rank : test.ranks) {
    rank.forward.events.clear();
    rank.backward.events.clear();
  }
}

std::string counted(int64_t n, const std::string& one) {
  return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

}  // namespace

Events keep_events(std::vector<CaseResult>& cases, int64_t room) {
  Events kept;
  for (const bool passed : {false, true})
    for (CaseResult& test : cases) {
      const int64_t events = events_of(test);
      if ((test.verdict == Status::kPass) != passed || events == 0) continue;
      if (kept.cases > 0 && kept.events + events > room) {
        forget_events(test);
        ++kept.left_out;
      } else {
        kept.events += events;
        ++kept.cases;
      }
    }
  return kept;
}

std::string to_text(const Events& kept) {
  if (kept.cases == 0)
    return "timelines: none: no case ran whose subject marks its passes in the ledger";
  std::string text = "timelines: " + counted(kept.events, "event") + " of " + counted(kept.cases, "case");
  if (kept.left_out > 0)
    text += "; those of " + counted(kept.left_out, "more case") + " had no room, so ask for fewer cases";
  return text;
}

}  // namespace ringcheck::reports
