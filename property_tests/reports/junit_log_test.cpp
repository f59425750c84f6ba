// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Of what a dead worker wrote the end says why it died.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "property_tests/reports/full_result.h"
#include "reports/formats/junit.h"

namespace ringcheck::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(JUnit, HasTheEndOfALongLog) {
  CaseResult test = case_of(Status::kCrash);
  test.log = "the beginning" + std::string(100000, '.') + "the end";
  const std::string text = junit(result_of({test}));
  EXPECT_THAT(text, HasSubstr("the end</system-err>"));
  EXPECT_THAT(text, Not(HasSubstr("the beginning")));
  EXPECT_LT(text.size(), 10000U);
}

}  // namespace
}  // namespace ringcheck::reports
