// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "property_tests/parity/case/generators.h"
#include "property_tests/cp/attention/passes.h"

// What a profiler sees of a pass.
namespace ringcheck {
namespace {

using ::testing::ElementsAre;

// The ranges of one thread, in the order in which they began: "outer > inner".
thread_local std::vector<std::string> open, seen;

const Profilers::Add registered{
    "test", {[](const std::string& name) {
               seen.push_back(open.empty() ? name : open.back() + " > " + name);
               open.push_back(name);
             },
             [] { open.pop_back(); }}};

TEST(Range, PassesAttentionAndTransfersNest) {
  const parity::Case test =
      parity::parse_case("ring:p2p/contiguous/full/P2/hq1/hkv1/s8/d8/float32");
  const auto ranges = on_every_rank(2, [&](Communicator& comm) {
    rank_pass(comm, test,
              local_problem(test, parity::problem_of(test),
                            parity::layout_of(test).queries[comm.rank()], 0));
    EXPECT_TRUE(open.empty());
    return seen;
  });
  const auto peer = [](int rank, const std::string& name) {
    return name + ", peer " + std::to_string(1 - rank);
  };
  for (int rank = 0; rank < 2; ++rank)
    EXPECT_THAT(ranges[rank],
                ElementsAre("forward", "forward > attend",
                            peer(rank, "forward > exchange kv, step 1"), "forward > attend",
                            "backward", "backward > attend backward",
                            peer(rank, "backward > exchange kv, step 1"),
                            "backward > attend backward",
                            peer(rank, "backward > exchange gradients, step 1"),
                            peer(rank, "backward > exchange gradients, step 2")));
}

// A range ends where an exception leaves it.
TEST(Range, EndsWithItsScope) {
  seen.clear();
  try {
    const Range range({"outer"});
    throw std::runtime_error("out of here");
  } catch (const std::runtime_error&) {
  }
  const Range range({"next", 3, 1});
  EXPECT_THAT(seen, ElementsAre("outer", "next, step 3, peer 1"));
}

}  // namespace
}  // namespace ringcheck
