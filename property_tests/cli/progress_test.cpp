// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The time that is probably left, at the speed so far.
#include "cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringcheck::cli {
namespace {

using ::testing::IsEmpty;

TEST(TimeLeft, IsThatOfTheWorkThatIsLeftAtTheSpeedSoFar) {
  EXPECT_EQ(time_left(1, 4, 10), "about 30 s left");
  EXPECT_EQ(time_left(2, 4, 10), "about 10 s left");
  EXPECT_EQ(time_left(3, 4, 30), "about 10 s left");
  EXPECT_EQ(time_left(1, 11, 60), "about 10 min left");
  EXPECT_EQ(time_left(1, 11, 3600), "about 10.0 h left");
}

TEST(TimeLeft, IsNotSaidWhereNothingIsKnown) {
  EXPECT_THAT(time_left(0, 4, 10), IsEmpty());
  EXPECT_THAT(time_left(4, 4, 10), IsEmpty());
  EXPECT_THAT(time_left(1, 0, 10), IsEmpty());
}

}  // namespace
}  // namespace ringcheck::cli
