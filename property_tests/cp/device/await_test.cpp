// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/await.h"

#include <gtest/gtest.h>
#include <time.h>

namespace ringcheck {
namespace {

using std::chrono::milliseconds, std::chrono::nanoseconds;

nanoseconds computed() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

// The share of a core that a thread takes while it waits, short as it waits.
double share_of_a_core() {
  const auto begin = std::chrono::steady_clock::now();
  const nanoseconds before = computed();
  nanoseconds waited{0};
  while (waited < milliseconds(4)) {
    rest(waited);
    waited = std::chrono::steady_clock::now() - begin;
  }
  return std::chrono::duration<double>(computed() - before) / waited;
}

// Others may have the core: of a thread that is awake no more is known than that it takes what it gets.
TEST(Waiting, SleepsWhereOthersHaveWorkForTheCore) {
  EXPECT_EQ(awake(), milliseconds(5));
  sleep_while_waiting();
  EXPECT_EQ(awake(), milliseconds(0));
  EXPECT_LT(share_of_a_core(), 0.5);
}

}  // namespace
}  // namespace ringcheck
