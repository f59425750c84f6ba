// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The main of every test program that has none of its own: RapidCheck must not be told to run
// nothing, and a run in which nothing passed is not green.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "property_tests/property.h"

namespace {

constexpr int kUsage = 2, kNothingRan = 77;

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const bool reproduce = std::any_of(argv + 1, argv + argc, [](const char* word) {
    return std::string(word) == "--reproduce";
  });
  if (const auto why = ringcheck::why_not_gating(); why && !reproduce) {
    std::cerr << argv[0] << ": " << *why << "\n";
    return kUsage;
  }
  const int status = RUN_ALL_TESTS();
  if (status != 0 || testing::GTEST_FLAG(list_tests))
    return status;
  if (reproduce || testing::UnitTest::GetInstance()->successful_test_count() == 0) {
    std::cerr << argv[0] << ": nothing that counts ran\n";
    return kNothingRan;
  }
  return 0;
}
