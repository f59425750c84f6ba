// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What is recorded of a failed case, and read back, is judged to the same bits without its subject.
#include "parity/judge/recorded/recording.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/process/folder.h"
#include "cli/to_result.h"
#include "parity/faults/fault.h"
#include "parity/judge/runner.h"
#include "parity/subject/files/manifest.h"
#include "parity/subject/files/outcome_file.h"
#include "parity/subject/ours.h"
#include "parity/subject/rank_numbers.h"
#include "parity/subject/world.h"

namespace ringcheck::parity {
namespace {

const Format kFormat{"recording-test", 1, "this test"};

std::string figures(const Verdict& verdict) {
  return cli::without_times(reports::to_json(cli::to_result(verdict))).dump(1);
}

Recording through_files(const Recording& recording) {
  const cli::TemporaryFolder folder;
  write_manifest(folder.path(), kFormat, write_recording(folder.path(), recording));
  return read_recording(folder.path(), read_manifest(folder.path(), kFormat));
}

struct Replayed {
  int failed = 0, same = 0;
};

// A fault in a case, by these oracles beside those of one run: whether it failed, and was the same.
void replay(const Case& test, SharedSubject subject, const std::string& oracle, Replayed& count,
            const std::function<void(Recording&)>& change = [](Recording&) {}) {
  RunOptions run;
  run.subject = std::move(subject);
  if (!oracle.empty()) run.judging.oracles.push_back(oracle);
  run.failed = [&](const Trial& trial, const Observed& observed, const Verdict& verdict) {
    ++count.failed;
    Recording recording = recording_of(trial, observed);
    change(recording);
    count.same += figures(judged(through_files(recording))) == figures(verdict) ? 1 : 0;
  };
  verify(test, run);
}

// Of each bug that only further runs bring out.
TEST(Recording, OfFurtherRunsIsJudgedToTheSameBits) {
  int tried = 0;
  for (const auto& [name, fault] : Faults::all()) {
    if (!fault.subject || fault.proves.empty() || fault.hangs || fault.races || fault.several_gpus)
      continue;
    for (const at::ScalarType dtype : {at::kDouble, at::kBFloat16}) {
      const std::vector<Case> cases = cases_of(fault, dtype);
      if (cases.empty() || cases.front().device != "cpu") continue;
      ++tried;
      Replayed count;
      replay(cases.front(), fault.subject, fault.proves, count);
      EXPECT_EQ(count.failed, 1) << name << ": the fault is not seen in " << to_text(cases.front());
      EXPECT_EQ(count.same, count.failed) << name << " in " << to_text(cases.front());
      break;
    }
  }
  EXPECT_GT(tried, 20);
}

const char* const kCase = "subject:planted[causal_sees_next_key]/headtail/causal/P3/s50/bf16/rope:half[10000]";

TEST(Recording, IsJudgedByWhatWasPromisedThen) {
  const Case test = parse_case(kCase);
  Replayed count;
  replay(test, subject_of(test), "", count);
  EXPECT_EQ(count.same, 1);
  // A contract that no kernel of this tree has.
  replay(test, subject_of(test), "", count, [](Recording& recording) {
    for (auto& [about, promise] : recording.promises) promise.contract.u_a *= 8;
  });
  EXPECT_EQ(count.failed, 2);
  EXPECT_EQ(count.same, 1);
}

// Also what few outcomes have.
TEST(Recording, KeepsAllOfAnOutcome) {
  Outcome outcome = solve_on_threads({parse_case("causal/P3/s20/bf16/rope:half[10000]")}, *ours());
  outcome.tensors.dk.reset();
  outcome.withheld = {"dk"};
  outcome.missing = {"dq: not returned by rank 1"};
  outcome.ranks.at(1).unwaited = {"exchange kv, step 2"};
  outcome.others["p"] = at::ones({2, 3});
  for (const bool did : {true, false}) {
    outcome.did_as_asked = did;
    const Outcome back = outcome_from(file_of(outcome));
    EXPECT_TRUE(same_values(back, outcome));
    EXPECT_EQ(back.withheld, outcome.withheld);
    EXPECT_EQ(back.missing, outcome.missing);
    EXPECT_EQ(back.did_as_asked, did);
    ASSERT_EQ(back.ranks.size(), outcome.ranks.size());
    for (size_t rank = 0; rank < outcome.ranks.size(); ++rank) {
      EXPECT_EQ(numbers_of(back.ranks[rank]), numbers_of(outcome.ranks[rank]));
      EXPECT_EQ(back.ranks[rank].unwaited, outcome.ranks[rank].unwaited);
    }
    ASSERT_EQ(back.others.size(), 1U);
    EXPECT_TRUE(back.others.at("p").equal(outcome.others["p"]));
  }
}

// The smallest change of what was kept is another verdict.
TEST(Recording, ShowsEveryChange) {
  const Case test = parse_case(kCase);
  const std::function<void(Recording&)> changes[] = {
      [](Recording& r) { r.problem.v = r.problem.v * 1.01; },
      [](Recording& r) { r.observed.outcome.tensors.dk[0][0][3][1] += 0.1; },
      [](Recording& r) { ++r.observed.outcome.ranks.at(1).forward.bytes_sent; },
      [](Recording& r) { r.observed.outcome.missing.emplace_back("dq: not returned"); },
      [](Recording& r) { r.oracles.pop_back(); }};
  for (const auto& change : changes) {
    Replayed count;
    replay(test, subject_of(test), "", count, change);
    EXPECT_EQ(count.failed, 1);
    EXPECT_EQ(count.same, 0);
  }
}

}  // namespace
}  // namespace ringcheck::parity
