// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/letterboxes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

namespace ringcheck {
namespace {

struct Letter {
  int from = 0, to = 0;
  int64_t number = 0;
};
using Boxes = Letterboxes<Letter>;

// The next `count` letters from a rank, as they come.
std::vector<int64_t> numbers(Boxes& boxes, int from, int count) {
  std::vector<int64_t> all;
  while (static_cast<int>(all.size()) < count)
    if (const auto letter = boxes.receive(from)) all.push_back(letter->number);
    else std::this_thread::yield();
  return all;
}

std::vector<int64_t> counted(int count) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

// More than a box holds: the rest is kept, and follows in order.
TEST(Letterboxes, ALetterIsNeverLostAndNobodyWaits) {
  constexpr int kLetters = 1000;
  Boxes writer = Boxes::create(2), reader = Boxes::open(writer.name(), 1, 2);
  for (int i = 0; i < kLetters; ++i) writer.send(1, {0, 1, i});
  std::vector<int64_t> read;
  for (int look = 0; look < kLetters && read.size() < kLetters; ++look, writer.send_kept())
    while (const auto letter = reader.receive(0)) read.push_back(letter->number);
  EXPECT_EQ(read, counted(kLetters));
  EXPECT_FALSE(reader.receive(0));
}

// Each pair has a box for each way, a rank one for itself.
TEST(Letterboxes, LettersGoWhereTheyAreSent) {
  std::vector<Boxes> ranks;
  ranks.push_back(Boxes::create(3));
  for (int rank = 1; rank < 3; ++rank) ranks.push_back(Boxes::open(ranks[0].name(), rank, 3));
  for (int from = 0; from < 3; ++from)
    for (int to = 0; to < 3; ++to) ranks[from].send(to, {from, to, 10 * from + to});
  for (int from = 0; from < 3; ++from)
    for (int to = 0; to < 3; ++to) {
      const auto letter = ranks[to].receive(from);
      ASSERT_TRUE(letter);
      EXPECT_EQ(letter->number, 10 * from + to);
      EXPECT_FALSE(ranks[to].receive(from));
    }
}

// Another process writes while this one reads.
TEST(Letterboxes, ProcessesReadWhatOthersWrite) {
  constexpr int kLetters = 20000;
  Boxes reader = Boxes::create(2);
  const pid_t child = ::fork();
  if (child == 0) {
    Boxes writer = Boxes::open(reader.name(), 1, 2);
    for (int i = 0; i < kLetters; ++i) writer.send(0, {1, 0, i});
    while (!reader.receive(0)) writer.send_kept();  // until it is told that all came
    ::_exit(0);
  }
  EXPECT_EQ(numbers(reader, 1, kLetters), counted(kLetters));
  reader.send(0, {});
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

std::string refusal(const std::string& name) {
  try {
    SharedMemory::open(name, 64);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "opened";
}

TEST(SharedMemory, IsFoundByNameUntilItIsForgotten) {
  SharedMemory own = SharedMemory::create(64);
  EXPECT_EQ(refusal(own.name()), "opened");
  own.forget_name();
  EXPECT_THAT(refusal(own.name()),
              testing::AllOf(testing::HasSubstr(own.name()), testing::HasSubstr("No such file")));
  static_cast<char*>(own.data())[63] = 'x';  // whoever has it keeps it
}

TEST(SharedMemory, LeavesNoNameBehind) {
  std::string name;
  { name = SharedMemory::create(64).name(); }
  EXPECT_THAT(refusal(name), testing::HasSubstr("No such file"));
}

}  // namespace
}  // namespace ringcheck
