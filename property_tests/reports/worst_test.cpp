// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The largest error of each oracle and tensor, with the case that has it: NaN is larger than any number.
#include "reports/formats/worst.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ringcheck::reports {
namespace {

struct Of {
  const char* test;
  double error, sigmas, blind;
  Status verdict = Status::kPass;
};

Worst worst(const std::vector<Of>& list) {
  Result result;
  for (const Of& of : list) {
    TensorResult tensor;
    tensor.tensor = "dq";
    tensor.hard_ratio = of.error;
    tensor.max_z = of.sigmas;
    tensor.vacuity = of.blind;
    tensor.verdict = of.verdict;
    OracleResult oracle;
    oracle.name = "parity";
    oracle.tensors = {tensor};
    CaseResult test;
    test.name = of.test;
    test.oracles = {oracle};
    result.cases.push_back(test);
  }
  return worst_of(result).at({"parity", "dq"});
}

TEST(Worst, IsOfTheCaseWithTheLargestError) {
  EXPECT_EQ(worst({{"a", 0.2, 3, 0.01}, {"b", 0.9, 1, 0.02}, {"c", 0.5, 2, 0}}).test, "b");
  EXPECT_EQ(worst({{"a", 0.9, 3, 0.01}, {"b", 0.2, 1, 0.02}}).test, "a");
  EXPECT_EQ(worst({{"a", 0, 0, 0}, {"b", 0, 0, 0}}).test, "a") << "the first of those that are alike";
}

TEST(Worst, IsTheLargestOfEachNumber) {
  const Worst all = worst({{"a", 0.2, 3, 0.01}, {"b", 0.9, 1, 0.02}, {"c", 0.5, 2, 0.5, Status::kFail}});
  EXPECT_EQ(all.error, 0.9);
  EXPECT_EQ(all.sigmas, 3);
  EXPECT_EQ(all.blind, 0.02) << "of those that passed";
}

TEST(Worst, AnErrorThatIsNoNumberIsTheLargest) {
  const Worst all = worst({{"a", 2, 3, 0}, {"b", NAN, NAN, 0}, {"c", 5, 9, 0}});
  EXPECT_TRUE(std::isnan(all.error));
  EXPECT_EQ(all.test, "b");
}

}  // namespace
}  // namespace ringcheck::reports
