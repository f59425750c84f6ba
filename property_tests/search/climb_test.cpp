// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/search/climb.h"

#include <gtest/gtest.h>

#include <iostream>

#include "property_tests/search/planted.h"
#include "property_tests/search/recurrence.h"

namespace ringcheck::search {
namespace {

parity::CaseSpace space() { return {parity::search_ranges(8), "cpu"}; }

// The parts on which a rounding error may depend.
parity::CaseSpace numeric_space() {
  parity::Ranges ranges = parity::search_ranges(8);
  ranges.of["mask"] = {"full"};
  ranges.of["rope"] = {"none"};
  ranges.of["kernel"] = {"plain"};  // another contract shows the error in other cases, as does
  ranges.of["strategy"] = {"ring:p2p", "ring:allgather"};  // a strategy that merges less
  ranges.of["balance"] = {"contiguous", "headtail", "striped[1]"};
  ranges.of["batch"] = {"1"};
  ranges.of["heads"] = {"1/1", "2/1"};
  return {ranges, "cpu"};
}

constexpr int kSeeds = 5, kCases = 120;

// How many of `cases` drawn at random fail.
int failures_at_random(uint64_t seed, int cases, const Verify& verify) {
  const parity::Draw draw = parity::drawn_from(seed);
  const parity::CaseSpace all = numeric_space();
  int failed = 0;
  for (int i = 0; i < cases; ++i)
    failed += fails(verify(all.build(all.choose(draw), draw)));
  return failed;
}

// An error that grows with dims, length and world, and is above the bounds only in the largest
// cases, in float32 and float64: the climb finds it from most seeds, as many random cases from few.
TEST(Climb, FindsASlightErrorThatRandomCasesMiss) {
  Conduct conduct{planted().at("growing-error").subject, std::chrono::seconds(10)};
  conduct.judging.oracles = {"parity"};  // the error is made for its bounds
  const auto workers = thread_workers(conduct, 8);
  const Verify verify = [&](const parity::Case& test) { return workers->run(test); };
  int by_climb = 0, by_chance = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Climbed climbed = climb(numeric_space(), seed, kCases, verify);
    const int failed = failures_at_random(1000 + seed, kCases, verify);
    std::cout << "seed " << seed << ": climb " << (climbed.failed ? "fails" : "does not fail")
              << " after " << climbed.run << " cases, z " << climbed.hardness.max_z << ", "
              << parity::to_text(climbed.worst.test) << "; of " << kCases << " random cases "
              << failed << " fail\n";
    by_climb += climbed.failed;
    by_chance += failed > 0;
  }
  std::cout << "found from " << by_climb << " of " << kSeeds << " seeds by the climb, from "
            << by_chance << " at random\n";
  EXPECT_GE(by_climb, 3);
  EXPECT_GT(by_climb, by_chance);
}

// It never gives back what it has: the case it returns has the largest z it saw.
TEST(Climb, ReturnsTheWorstCaseItSaw) {
  const auto workers = thread_workers({parity::ours(), std::chrono::seconds(10)}, 8);
  double most = 0;
  const Climbed climbed = climb(space(), 3, 45, [&](const parity::Case& test) {
    const parity::Verdict verdict = workers->run(test);
    most = std::max(most, hardness_of(verdict).max_z);
    return verdict;
  });
  EXPECT_FALSE(climbed.failed);
  EXPECT_EQ(climbed.run, 45);
  EXPECT_EQ(climbed.hardness.max_z, most);
  EXPECT_EQ(hardness_of(workers->run(climbed.worst.test)).max_z, most);
  EXPECT_GT(most, 2);
}

}  // namespace
}  // namespace ringcheck::search
