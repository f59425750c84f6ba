// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Each oracle of further runs has a planted bug that it kills, and that `parity` on the case alone
// lets through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "parity/faults/fault.h"
#include "parity/faults/kill_matrix.h"
#include "parity/judge/runner.h"
#include "property_tests/asan_options.h"

RINGCHECK_ASAN_OPTIONS("max_malloc_fill_size=0")  // fresh memory is zero, as `workspace_taken_for_zero` takes it to be

namespace ringcheck {
namespace {

using parity::Case;
using parity::Fault;
using parity::Faults;
using parity::Status;
using parity::Verdict;

// What no CPU can show: messages that come late only matter between streams. The races of the catalogue
// are planted under delays of their own, on GPUs.
const std::set<std::string> kOfStreams{"delays"};

std::vector<std::string> relations() {
  std::vector<std::string> names;
  for (const auto& [name, oracle] : parity::Oracles::all())
    if (oracle.variations && !kOfStreams.contains(name)) names.push_back(name);
  return names;
}

std::vector<std::string> proofs_of(const std::string& relation) {
  std::vector<std::string> names;
  for (const auto& [name, fault] : Faults::all())
    if (fault.proves == relation) names.push_back(name);
  return names;
}

Verdict judged(const Case& test, const std::string& oracle, const parity::SharedSubject& subject) {
  parity::RunOptions options;
  options.subject = subject;
  options.judging.oracles = {oracle};
  return parity::verify(test, options);
}

// Of the oracle itself: one about form alone makes no case pass.
Status status_of(const Verdict& verdict, const std::string& oracle) {
  const auto found = std::ranges::find(verdict.oracles, oracle, &parity::OracleVerdict::name);
  return found == verdict.oracles.end() ? verdict.status : found->status;
}

std::string said(const Verdict& verdict) {
  std::string text = parity::to_text(verdict.status) + " " + verdict.reason;
  for (const std::string& finding : parity::said_by(verdict).findings) text += "\n" + finding;
  return text;
}

void prove(const Fault& fault, const Case& test) {
  SCOPED_TRACE(to_text(test));
  const Verdict blind = judged(test, "parity", fault.subject);
  EXPECT_EQ(blind.status, Status::kPass) << said(blind);
  const Verdict seen = judged(test, fault.proves, fault.subject);
  EXPECT_EQ(seen.status, Status::kFail) << said(seen);
  EXPECT_TRUE(parity::localises(fault.names, parity::said_by(seen))) << said(seen);
  const Verdict clean = judged(test, fault.proves, fault.control);
  EXPECT_EQ(status_of(clean, fault.proves), Status::kPass) << said(clean);
}

class Proof : public ::testing::TestWithParam<std::string> {};

TEST_P(Proof, KillsWhatParityOnOneRunLetsThrough) {
  const std::vector<std::string> names = proofs_of(GetParam());
  EXPECT_THAT(names, ::testing::Not(::testing::IsEmpty()));
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const Fault& fault = Faults::at(name);
    if (fault.several_gpus) continue;  // hunted on GPUs: no CPU has what it needs
    for (const at::ScalarType dtype : fault.dtypes)
      for (const Case& test : parity::cases_of(fault, dtype)) prove(fault, test);
  }
}

INSTANTIATE_TEST_SUITE_P(Relations, Proof, ::testing::ValuesIn(relations()), [](const auto& param) {
  std::string name = param.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(Proofs, AreOfOraclesThereAre) {
  for (const auto& [name, fault] : Faults::all())
    if (!fault.proves.empty()) {
      EXPECT_THAT(relations(), ::testing::Contains(fault.proves)) << name;
    }
}

// Elsewhere they neither count nor pass for noticed.
TEST(Proofs, OfSeveralGpusDoNotCountOnACpu) {
  const parity::Cell cell =
      parity::hunt("device_rounds_otherwise", at::kFloat, {.oracles = parity::all_oracles()});
  EXPECT_EQ(cell.result, parity::Cell::Result::kNotApplicable);
  EXPECT_THAT(cell.reason, ::testing::HasSubstr("GPU"));
}

}  // namespace
}  // namespace ringcheck
