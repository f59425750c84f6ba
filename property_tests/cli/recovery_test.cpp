// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Which case is to blame for what ended a run.
#include "cli/results/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "property_tests/cli/program.h"
#include "property_tests/reports/full_result.h"
#include "reports/journal.h"

namespace ringcheck::cli {
namespace {

using reports::Status;
using ::testing::ElementsAre;

// The verdicts of three cases, of which so many ended well, and perhaps one more began.
std::vector<Status> verdicts(size_t ended, bool runs, Status of_death) {
  const testing::Folder folder;
  reports::Journal journal(folder.file("journal"));
  reports::Result nothing = reports::full_result();
  nothing.cases.assign(3, reports::case_of(Status::kSkipped));
  journal.head(nothing);
  for (size_t test = 0; test < ended + (runs ? 1 : 0); ++test) {
    journal.began(test);
    if (test < ended) journal.ended(test, reports::case_of(Status::kPass));
  }
  const reports::Result result =
      recovered(testing::read_text(journal.path()), {of_death, -1, "why", {}});
  std::vector<Status> all;
  for (const reports::CaseResult& test : result.cases) all.push_back(test.verdict);
  return all;
}

constexpr Status kPass = Status::kPass, kSkipped = Status::kSkipped, kCrash = Status::kCrash;

TEST(Recovery, ADeathIsThatOfTheCaseThatRanOrIsNextOrWasLast) {
  EXPECT_THAT(verdicts(1, true, kCrash), ElementsAre(kPass, kCrash, kSkipped));
  EXPECT_THAT(verdicts(1, false, kCrash), ElementsAre(kPass, kCrash, kSkipped));
  EXPECT_THAT(verdicts(0, false, kCrash), ElementsAre(kCrash, kSkipped, kSkipped));
  EXPECT_THAT(verdicts(3, false, kCrash), ElementsAre(kPass, kPass, kCrash));
}

// Whoever interrupts a run says nothing of what had ended.
TEST(Recovery, AnInterruptChangesNoVerdict) {
  EXPECT_THAT(verdicts(1, true, kSkipped), ElementsAre(kPass, kSkipped, kSkipped));
  EXPECT_THAT(verdicts(3, false, kSkipped), ElementsAre(kPass, kPass, kPass));
}

}  // namespace
}  // namespace ringcheck::cli
