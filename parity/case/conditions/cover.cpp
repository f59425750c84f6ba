// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/conditions/cover.h"

#include <queue>

#include "parity/case/case_space.h"

namespace ringcheck::parity {
namespace {

// What a missing condition, pair and triple are worth.
constexpr int64_t kEach = 24, kPair = 12, kTriple = 1;

struct Candidate {
  int64_t worth;  // gain for its cost, as it was when last looked at: it only gets less
  size_t index;
  bool operator<(const Candidate& other) const {
    return worth != other.worth ? worth < other.worth : index > other.index;
  }
};

}  // namespace

int64_t cost_of(const Case& test) {
  constexpr int64_t kWorkOfALeastCase = 25'000'000;
  return 1000 + work_of(test) / (kWorkOfALeastCase / 1000);
}

Cover::Cover(const Combinations& combinations, Minima minima)
    : combinations_(combinations),
      minima_(minima),
      pairs_(combinations.pairs(), static_cast<uint8_t>(minima.pair)),
      triples_(combinations.triples()) {
  for (const Condition& row : combinations.conditions())
    each_.push_back(minima.of(row));
}

int64_t Cover::gain(const Combinations::Met& met) const {
  int64_t sum = 0;
  for (const uint16_t condition : met.all)
    sum += each_[condition] > 0 ? kEach : 0;
  combinations_.each_pair(met, [&](size_t pair) { sum += pairs_[pair] > 0 ? kPair : 0; });
  combinations_.each_triple(met, [&](size_t triple) { sum += triples_[triple] ? 0 : kTriple; });
  return sum;
}

void Cover::add(const Case& test) { add(test, combinations_.met_by(test)); }

void Cover::add(const Case& test, const Combinations::Met& met) {
  for (const uint16_t condition : met.all)
    --each_[condition];
  combinations_.each_pair(met, [&](size_t pair) { pairs_[pair] -= pairs_[pair] > 0; });
  combinations_.each_triple(met, [&](size_t triple) { triples_[triple] = true; });
  cases_.push_back(test);
}

void Cover::choose(const std::vector<Case>& pool, size_t count) {
  std::vector<Combinations::Met> met;
  std::priority_queue<Candidate> best;
  const auto look_at = [&](size_t i) {
    const int64_t gained = gain(met[i]);
    if (gained > 0)
      best.push({gained * 1'000'000 / cost_of(pool[i]), i});
  };
  for (size_t i = 0; i < pool.size(); ++i) {
    met.push_back(combinations_.met_by(pool[i]));
    look_at(i);
  }
  while (count > 0 && !best.empty()) {
    const Candidate first = best.top();
    best.pop();
    const int64_t gained = gain(met[first.index]);
    if (gained * 1'000'000 / cost_of(pool[first.index]) < first.worth) {
      look_at(first.index);
      continue;
    }
    add(pool[first.index], met[first.index]);
    --count;
  }
}

}  // namespace ringcheck::parity
