// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/kept_threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <thread>
#include <vector>

namespace ringcheck {
namespace {

thread_local int kept = 0;

// Who did number 0 to count - 1, all of them at once.
std::vector<std::thread::id> who(int count) {
  std::vector<std::thread::id> ids(count);
  std::barrier all(count);
  on_kept_threads(count, [&](int number) {
    all.arrive_and_wait();  // or it ends nowhere
    ids[number] = std::this_thread::get_id();
  });
  return ids;
}

TEST(KeptThreads, AreOneEachAndTheSameAgain) {
  const std::vector<std::thread::id> first = who(7);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_NE(first[i], std::this_thread::get_id());
    for (size_t j = 0; j < i; ++j) EXPECT_NE(first[i], first[j]);
  }
  EXPECT_EQ(who(7), first);
  EXPECT_EQ(who(3), std::vector(first.begin(), first.begin() + 3));
}

TEST(KeptThreads, KeepWhatIsTheirs) {
  on_kept_threads(3, [](int number) { kept = 10 + number; });
  on_kept_threads(3, [](int number) { EXPECT_EQ(kept, 10 + number); });
  EXPECT_EQ(kept, 0);
}

TEST(KeptThreads, OfCallsAtTheSameTimeAreOthers) {
  std::vector<std::thread::id> inner(2), outer(2);
  on_kept_threads(2, [&](int number) {
    outer[number] = std::this_thread::get_id();
    if (number == 0) inner = who(2);
  });
  for (const std::thread::id& one : inner)
    for (const std::thread::id& other : outer) EXPECT_NE(one, other);
}

TEST(KeptThreads, AreThereInAForkedProcess) {
  who(2);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    ::_exit(who(2).size() == 2 ? 7 : 8);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(KeptThreads, ForNobodyAreNone) {
  on_kept_threads(0, [](int) { FAIL(); });
}

}  // namespace
}  // namespace ringcheck
