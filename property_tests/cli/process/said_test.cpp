// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What is shown of what a worker wrote.
#include "cli/workers/said.h"

#include <gtest/gtest.h>

namespace ringcheck::cli {
namespace {

std::string banner() {
  std::string text = "----------\nMPI_ABORT was invoked on rank 0\n";
  text.append(300, 'x').append("\n");
  return text;
}

TEST(Said, IsShownInALineWithoutFrames) {
  EXPECT_EQ(in_a_line("-----\nNo room\n  left\n-----\n"), "No room   left");
  EXPECT_EQ(in_a_line(""), "it said nothing");
  EXPECT_EQ(in_a_line(banner()).size(), 240 + 4);
}

// mpirun may tell of the end before the words of the rank that it is about.
TEST(Said, OfASelfTestIsShownWhereverItStands) {
  const std::string why = "self-test: `parity` accepted\nNaN";
  for (const std::string& said : {why, banner() + why, why + "\n-----\nMPI_ABORT was invoked on rank 0"})
    EXPECT_EQ(self_test_in_a_line(said), "self-test: `parity` accepted NaN");
  EXPECT_EQ(self_test_in_a_line("no such words"), "no such words");
}

}  // namespace
}  // namespace ringcheck::cli
