// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "reports/compare/side.h"

namespace ringcheck::reports {

// What all runs of a side say of one case.
struct Judgement {
  std::string name, reproduce;
  std::map<std::string, bool> failures;  // "parity: dq", "hang"; whether only a contract is violated
  std::set<std::string> judged;          // in every run: "o of rank 0", "oracle census"
  std::string unjudged;                  // why nothing was, where there is a reason
  std::map<std::string, std::set<int64_t>> counters;  // "rank 0: forward.messages", its values
  // What a GPU's allocator may hand out beyond what is asked for, as it happens to have it (docs/counters.md):
  // by so much a peak of everything may differ from run to run.
  int64_t rounding = 0;
};

// Of each case by its key. Throws Incomparable where one run has two cases of one key.
std::map<std::string, Judgement> judgements_of(const Side& side, const Ignored& ignored);

}  // namespace ringcheck::reports
