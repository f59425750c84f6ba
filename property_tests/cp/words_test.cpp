// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/words.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace ringcheck::testing {
namespace {

TEST(WordsOf, LeaveOutTheFramesOfLibTorch) {
  try {
    TORCH_CHECK(false, "two shapes");
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("words_test.cpp"));
    EXPECT_EQ(words_of(error), "two shapes");
  }
  EXPECT_EQ(words_of(std::runtime_error("as it is")), "as it is");
  EXPECT_EQ(words_of(std::runtime_error("[json.exception.type_error.302] type must be string")), "type must be string");
}

}  // namespace
}  // namespace ringcheck::testing
