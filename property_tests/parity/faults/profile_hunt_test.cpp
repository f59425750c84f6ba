// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a list of cases would have seen a planted bug.
#include "parity/faults/profile_hunt.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parity/judge/judging.h"
#include "parity/subject/ours.h"

namespace ringcheck {
namespace {

using parity::Case;
using parity::Cell;
using parity::Fault;
using parity::Hunt;

constexpr const char* kHome = "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s36/d16/dv24";
constexpr const char* kCase = "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s36/d16/dv24/float32";

parity::SharedSubject without_dq() {
  return parity::ours_with([](Communicator& comm, const Case& test,
                              const parity::RankInput& input) {
    parity::RankOutput output = parity::context_parallel(comm, test, input);
    output.dq.zero_();
    return output;
  });
}

parity::SharedSubject with_a_copy() {
  return parity::ours_with([](Communicator& comm, const Case& test,
                              const parity::RankInput& input) {
    const at::Tensor copy = at::zeros({1 << 20});
    return parity::context_parallel(comm, test, input);
  });
}

// Its control is as wrong as it is itself.
const parity::FaultGroup group{"test", {
  {"wrong_without_a_fault", {
    .stands_for = "nothing", .wrong = "dQ is zero, and so it is in the control",
    .cases = {kHome},
    .names = {.tensors = {"dq"}}, .subject = without_dq(), .control = without_dq()}},
  {"planting_copies", {
    .stands_for = "a bug in values that this case does not show", .wrong = "dQ, but not here",
    .cases = {kHome}, .names = {.tensors = {"dq"}}, .subject = with_a_copy()}},
  {"copies", {
    .stands_for = "a bug in memory", .wrong = "4 MiB are held",
    .cases = {kHome}, .names = {.words = {"peak bytes"}}, .subject = with_a_copy()}},
}};

Hunt among(const std::vector<std::string>& texts) {
  Hunt hunt{.oracles = {"parity"}};
  for (const std::string& text : texts) hunt.among.push_back(parity::parse_case(text));
  return hunt;
}

Cell hunted(const std::string& fault, const std::vector<std::string>& texts) {
  return parity::hunt_among(fault, at::kFloat, among(texts));
}

// What is held for the planting alone is not the bug.
TEST(ProfileHunt, TakesACostForABugInCostsAlone) {
  Hunt hunt = among({kCase});
  hunt.oracles.push_back("counters");
  EXPECT_EQ(parity::hunt_among("planting_copies", at::kFloat, hunt).result,
            Cell::Result::kSurvived);
  EXPECT_EQ(parity::hunt_among("copies", at::kFloat, hunt).killer, "counters");
}

TEST(ProfileHunt, NamesTheCaseThatKills) {
  const Cell cell = hunted("dq_zero", {"ring:p2p/headtail/full/P2/s16/d8/float32", kCase});
  EXPECT_EQ(cell.result, Cell::Result::kKilled);
  EXPECT_EQ(cell.test, to_text(parity::parse_case(kCase)));  // which is likelier to show it
  EXPECT_EQ(cell.cases, 1);
  EXPECT_EQ(cell.killer, "parity");
  EXPECT_TRUE(cell.localised);
  EXPECT_EQ(cell.names_tensor, true);
  EXPECT_EQ(cell.names_rank, std::nullopt);  // it sits on all of them
}

TEST(ProfileHunt, SaysWhetherTheRankIsNamed) {
  const Cell cell = hunted("gradient_term_lost_on_a_rank", {kCase});
  ASSERT_EQ(cell.result, Cell::Result::kKilled);
  EXPECT_TRUE(cell.names_rank.has_value() || cell.names_tensor.has_value());
  EXPECT_EQ(cell.localised,
            cell.names_tensor.value_or(true) && cell.names_rank.value_or(true));
}

// What two cases show alike, the cheaper one shows sooner.
TEST(ProfileHunt, BeginsWithTheCheaperOfTwoThatAreAsLikely) {
  const std::string dear = "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s400/d16/dv24/float32";
  const std::string cheap = "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s40/d16/dv24/float32";
  const std::vector<Case> order =
      parity::likely_first(parity::Faults::at("dq_zero"), among({dear, cheap}).among);
  ASSERT_EQ(order.size(), 2U);
  EXPECT_EQ(order.front().seq, 40);
}

// A relation that the case draws, as in verify, and that no oracle of one run replaces.
TEST(ProfileHunt, AsksWhatACaseDraws) {
  Hunt hunt = among({"ring:p2p/headtail/doc[9:12,8,8,12,8,12]/P2/b1/hq4/hkv2/s60/d16/bf16/seed1"});
  hunt.oracles = parity::oracles_of_one_run();
  const std::string fault = "plan_cached_without_scale";
  EXPECT_EQ(parity::hunt_among(fault, at::kBFloat16, hunt).result, Cell::Result::kSurvived);
  hunt.drawn = true;
  const Cell cell = parity::hunt_among(fault, at::kBFloat16, hunt);
  EXPECT_EQ(cell.result, Cell::Result::kKilled);
  EXPECT_EQ(cell.killer, "scale-in-query");
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
