// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/sharing/deck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "cli/usage_error.h"
#include "property_tests/cli/program.h"

namespace ringcheck::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

TEST(Deck, GivesTheNextOneThatNobodyHas) {
  const testing::Folder folder;
  const Deck deck = Deck::create(folder.file("deck"), 3);
  EXPECT_THAT(deck.take(7), Optional(0U));
  EXPECT_THAT(deck.take(9), Optional(1U));
  EXPECT_THAT(deck.take(7), Optional(2U));
  EXPECT_EQ(deck.take(7), std::nullopt);
  EXPECT_TRUE(deck.empty());
  EXPECT_THAT(deck.of(7), ElementsAre(0, 2));
  EXPECT_THAT(deck.of(9), ElementsAre(1));
  EXPECT_THAT(deck.of(8), IsEmpty());
}

TEST(Deck, TakesBackWhatWasNotDone) {
  const testing::Folder folder;
  const Deck deck = Deck::create(folder.file("deck"), 2);
  deck.take(2);
  deck.take(2);
  deck.put_back(1);
  EXPECT_FALSE(deck.empty());
  EXPECT_THAT(deck.of(2), ElementsAre(0));
  EXPECT_THAT(deck.take(3), Optional(1U));
}

TEST(Deck, OfNoCasesIsEmpty) {
  const testing::Folder folder;
  const Deck deck = Deck::create(folder.file("deck"), 0);
  EXPECT_TRUE(deck.empty());
  EXPECT_EQ(Deck::open(folder.file("deck")).take(2), std::nullopt);
}

TEST(Deck, SaysWhichFileCannotBeOpened) {
  const testing::Folder folder;
  try {
    Deck::open(folder.file("missing"));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr(folder.file("missing")));
  }
}

// Each of many takers has mapped the file by itself, as processes do.
TEST(Deck, GivesEveryCaseToOneTaker) {
  constexpr size_t kCases = 5000;
  const testing::Folder folder;
  const Deck deck = Deck::create(folder.file("deck"), kCases);
  std::vector<std::vector<size_t>> taken(4);
  {
    std::vector<std::jthread> takers;
    for (size_t i = 0; i < taken.size(); ++i)
      takers.emplace_back([&, i] {
        const Deck own = Deck::open(folder.file("deck"));
        while (const auto index = own.take(static_cast<int32_t>(i) + 2)) taken[i].push_back(*index);
      });
  }
  std::vector<int> times(kCases);
  for (size_t i = 0; i < taken.size(); ++i) {
    EXPECT_EQ(deck.of(static_cast<int32_t>(i) + 2), taken[i]);
    for (const size_t index : taken[i]) ++times[index];
  }
  EXPECT_THAT(times, ::testing::Each(1));
}

}  // namespace
}  // namespace ringcheck::cli
