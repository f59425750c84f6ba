// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a list of cases would have seen a planted bug.
#include "parity/faults/profile_hunt.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parity/subject/ours.h"

namespace ringcheck {
namespace {

using parity::Case;
using parity::Cell;
using parity::Fault;
using parity::Hunt;

constexpr const char* kCase = "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s36/d16/dv24/float32";

parity::SharedSubject without_dq() {
  return parity::ours_with([](Communicator& comm, const Case& test,
                              const parity::RankInput& input) {
    parity::RankOutput output = parity::context_parallel(comm, test, input);
    output.dq.zero_();
    return output;
  });
}

// Its control is as wrong as it is itself.
const parity::FaultGroup group{"test", {
  {"wrong_without_a_fault", {
    .stands_for = "nothing", .wrong = "dQ is zero, and so it is in the control",
    .cases = {"ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s36/d16/dv24"},
    .names = {.tensors = {"dq"}}, .subject = without_dq(), .control = without_dq()}},
}};

Hunt among(const std::vector<std::string>& texts) {
  Hunt hunt{.oracles = {"parity"}};
  for (const std::string& text : texts) hunt.among.push_back(parity::parse_case(text));
  return hunt;
}

Cell hunted(const std::string& fault, const std::vector<std::string>& texts) {
  return parity::hunt_among(fault, at::kFloat, among(texts));
}

TEST(ProfileHunt, NamesTheCaseThatKills) {
  const Cell cell = hunted("dq_zero", {"ring:p2p/headtail/full/P2/s16/d8/float32", kCase});
  EXPECT_EQ(cell.result, Cell::Result::kKilled);
  EXPECT_EQ(cell.test, to_text(parity::parse_case(kCase)));  // which is likelier to show it
  EXPECT_EQ(cell.cases, 1);
  EXPECT_EQ(cell.killer, "parity");
  EXPECT_TRUE(cell.localised);
}

TEST(ProfileHunt, GoesOnWhereACaseShowsNothing) {
  const Cell cell = hunted("causal_by_local_position",
                           {"ring:p2p/headtail/causal/P1/b2/hq4/hkv2/s36/d16/dv24/float32", kCase,
                            "ring:p2p/headtail/full/P3/b2/hq4/hkv2/s36/d16/dv24/float32"});
  EXPECT_EQ(cell.result, Cell::Result::kKilled);
  EXPECT_EQ(cell.test, to_text(parity::parse_case(kCase)));
}

TEST(ProfileHunt, SaysHowManyCasesAFaultLivedThrough) {
  const Cell cell = hunted("queries_clamped", {kCase, std::string(kCase) + "/seed2"});
  EXPECT_EQ(cell.result, Cell::Result::kSurvived);
  EXPECT_EQ(cell.cases, 2);
  EXPECT_EQ(cell.test, "");
  EXPECT_FALSE(cell.reason.empty());
}

TEST(ProfileHunt, CountsNoCaseThatFailsWithoutTheFault) {
  EXPECT_EQ(hunted("wrong_without_a_fault", {kCase}).result, Cell::Result::kSurvived);
}

TEST(ProfileHunt, PlantsNothingWhereItCannotShow) {
  const Cell cell = hunted("device_rounds_otherwise", {kCase});
  EXPECT_EQ(cell.result, Cell::Result::kNotApplicable);
  EXPECT_EQ(cell.cases, 0);
}

// Other processes and other subjects cannot have a bug planted in them here.
TEST(ProfileHunt, LeavesOutWhereNothingCanBePlanted) {
  const Hunt hunt = among({kCase, std::string(kCase) + "/mpi",
                           "subject:undivided[plain]/causal/P2/s16/d8/float32"});
  const std::vector<Case> left = parity::likely_first(parity::Faults::at("dq_zero"), hunt.among);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(to_text(left.front()), to_text(parity::parse_case(kCase)));
}

}  // namespace
}  // namespace ringcheck
