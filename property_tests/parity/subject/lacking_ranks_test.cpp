// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Ranks that lack what a case needs, as a GPU, are not asked to run it; what they do not lack is up to the subject.
#include <gtest/gtest.h>

#include <stdexcept>

#include "parity/judge/runner.h"

namespace ringcheck {
namespace {

using parity::Case;
using parity::Status;

std::shared_ptr<Communicator> nobody_connects(const Case&) { throw std::logic_error("ranks met for a case that they cannot run"); }

TEST(LackingRanks, AreNotSupportedBeforeTheyMeet) {
  const auto lacks = [](const Case& test) { return test.world > 2 ? std::optional<std::string>("no GPU is left") : std::nullopt; };
  parity::ProcessRanks first(0, nobody_connects, {}, lacks), second(1, nobody_connects, {}, lacks);
  const Case three = parity::parse_case("P3/s12/d8"), two = parity::parse_case("P2/s12/d8");
  const auto verdict = parity::verify(three, first, {});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->status, Status::kNotSupported);
  EXPECT_EQ(verdict->reason, "no GPU is left");
  EXPECT_FALSE(parity::verify(three, second, {})) << "the verdict is on the first rank alone";
  EXPECT_THROW(parity::verify(two, first, {}), std::logic_error);
  EXPECT_EQ(parity::verify(parity::parse_case("flash/P2/s12/d8/dv4"), first, {})->status, Status::kNotSupported);
}

}  // namespace
}  // namespace ringcheck
