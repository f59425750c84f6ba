// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The catalogue of planted bugs is whole, and every bug in it is one.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "parity/faults/fault_effect.h"
#include "parity/faults/kill_matrix.h"
#include "parity/judge/runner.h"
#include "parity/faults/self_test/self_test.h"
#include "property_tests/parity/faults/detection_gate.h"

namespace ringcheck {
namespace {

using parity::Cell;
using parity::Fault;
using parity::Faults;

// The dtype in which a fault is planted here: bf16, in which bugs hide best, where it can show.
at::ScalarType dtype_of(const Fault& fault) {
  const bool in_bf16 = std::ranges::find(fault.dtypes, at::kBFloat16) != fault.dtypes.end();
  return in_bf16 ? at::kBFloat16 : fault.dtypes.front();
}

// Tensors bit for bit, and what every rank counted.
bool changes_nothing(const Fault& fault) {
  return std::ranges::all_of(parity::cases_of(fault, dtype_of(fault)), [&](const auto& test) {
    const auto faulty = parity::faulty_outcome(fault, test);
    if (!faulty) return false;
    const auto right = parity::solve_on_threads({test}, *parity::ours());
    return parity::same_values(*faulty, right) && faulty->ranks == right.ranks;
  });
}

TEST(Faults, EveryFileRegistered) {
  std::set<std::string> groups;
  for (const auto& [name, fault] : Faults::all()) groups.insert(fault.group);
  EXPECT_EQ(groups.size(), size_t{RINGCHECK_FAULT_FILES});
}

TEST(Faults, EveryOperatorOfTheCatalogueIsPlanted) {
  std::set<std::string> planted;
  for (const auto& [name, fault] : Faults::all())
    planted.insert(fault.operators.begin(), fault.operators.end());
  for (int i = 1; i <= 57; ++i)
    EXPECT_TRUE(planted.contains((i < 10 ? "M0" : "M") + std::to_string(i))) << i;
}

TEST(Faults, ThereAreEnoughOfEveryKind) {
  std::map<parity::Site, int> at;
  for (const auto& [name, fault] : Faults::all()) ++at[fault.site];
  EXPECT_GE(Faults::all().size(), 130U);
  EXPECT_GE(at[parity::Site::kCommunicator], 8);
  EXPECT_GE(at[parity::Site::kHarness], 5);
}

TEST(Faults, EachSaysWhatItIsAndWhatAVerdictMustName) {
  for (const auto& [name, fault] : Faults::all()) {
    EXPECT_FALSE(fault.stands_for.empty()) << name;
    EXPECT_FALSE(fault.wrong.empty()) << name;
    EXPECT_NE(fault.subject == nullptr, fault.judging == nullptr) << name;
    EXPECT_EQ(fault.cases.empty(), fault.judging != nullptr) << name;
    const parity::Named& names = fault.names;
    const bool names_something = !names.tensors.empty() || names.rank >= 0 || !names.words.empty();
    EXPECT_NE(names_something, !fault.equivalent.empty()) << name;
  }
}

// A planted bug that changes no output and no counter would be a free point; one that is called
// equivalent must change none, nor one between streams, of which a CPU has none. What changes only
// further runs, proof_test holds to those.
TEST(Faults, EachChangesSomethingOrIsProvenEquivalent) {
  for (const auto& [name, fault] : Faults::all())
    if (fault.subject && fault.proves.empty()) {
      EXPECT_EQ(changes_nothing(fault), !fault.equivalent.empty() || fault.races) << name;
    }
}

// They are hunted on GPUs alone: elsewhere they neither count nor pass for noticed.
TEST(Faults, RacesBetweenStreamsDoNotCountOnACpu) {
  int races = 0;
  for (const auto& [name, fault] : Faults::all()) {
    if (!fault.races) continue;
    ++races;
    const Cell cell = parity::hunt(name, at::kBFloat16, {.oracles = parity::all_oracles()});
    EXPECT_EQ(cell.result, Cell::Result::kNotApplicable) << name;
    EXPECT_THAT(cell.reason, ::testing::HasSubstr("GPU")) << name;
  }
  EXPECT_GE(races, 8);
}

// What a kernel never reads cannot be wrong: no bit changes, and no score counts it.
TEST(Faults, AreMootWithKernelsThatTheyDoNotReach) {
  const parity::Hunt flash{.oracles = {"parity", "counters"}, .kernel = "flash"};
  EXPECT_EQ(parity::hunt("delta_zero", at::kBFloat16, flash).result, Cell::Result::kEquivalent);
  EXPECT_EQ(parity::hunt("dq_zero", at::kBFloat16, flash).result, Cell::Result::kKilled);
}

// Nor where only further runs would show them, of which the kernel takes none.
TEST(Faults, ThatNeedWhatAKernelRefusesDoNotCount) {
  const parity::Hunt prefix{.oracles = {"prefix"}, .kernel = "flash"};
  const Cell cell = parity::hunt("short_tile_scales_by_dv", at::kBFloat16, prefix);
  EXPECT_EQ(cell.result, Cell::Result::kNotApplicable);
  EXPECT_THAT(cell.reason, ::testing::HasSubstr("dim = dim_v"));
  const parity::Hunt shift{.oracles = {"position-shift"}, .kernel = "flash"};
  EXPECT_EQ(parity::hunt("sink_kept_under_a_window", at::kBFloat16, shift).result, Cell::Result::kKilled);
}

TEST(SelfTest, TheJudgingIsAsItShouldBe) {
  const parity::SelfTest test =
      parity::self_test(at::kDouble, parity::all_oracles(), parity::judge_plainly);
  EXPECT_THAT(test.failures, ::testing::IsEmpty());
  EXPECT_GE(test.demands, 100);
}

// The committed matrix is that of this catalogue: every fault in every dtype, and none besides.
TEST(Faults, AllStandInTheCommittedMatrix) {
  std::set<std::pair<std::string, std::string>> expected, committed;
  for (const auto& [name, fault] : Faults::all())
    for (const char* dtype : {"float64", "float32", "bf16", "fp16"}) expected.emplace(name, dtype);
  const auto matrix = testing::committed_result("cpu_faults.json");
  for (const auto& cell : testing::own_part(matrix).at("cells"))
    committed.emplace(cell.at("fault"), cell.at("dtype"));
  EXPECT_EQ(committed, expected);
}

}  // namespace
}  // namespace ringcheck
