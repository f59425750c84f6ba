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

// The share of a core that a thread takes while it waits so shortly that it might stay awake.
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

TEST(Waiting, SleepsWhereOthersHaveWorkForTheCore) {
  sleep_while_waiting();
  EXPECT_EQ(awake(), milliseconds(0));
  EXPECT_LT(share_of_a_core(), 0.5);
}

}  // namespace
}  // namespace ringcheck
