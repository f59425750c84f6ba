// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "property_tests/cli/program.h"
#include "property_tests/reports/full_result.h"
#include "reports/history/history.h"

namespace ringcheck::reports {
namespace {

// As many cases of each verdict as no other verdict has.
TEST(Counts, OfEachVerdictAreItsOwn) {
  std::vector<CaseResult> cases;
  const std::vector<Status> verdicts{Status::kPass,    Status::kFail,         Status::kNotSupported, Status::kSkipped,
                                     Status::kInconclusive, Status::kHang, Status::kCrash};
  for (size_t i = 0; i < verdicts.size(); ++i)
    for (size_t count = 0; count <= i; ++count) {
      cases.push_back(case_of(verdicts[i]));
      cases.back().name = "case " + std::to_string(cases.size());
    }
  const testing::Folder folder;
  History history(folder.file("history.db"), History::Missing::kCreate);
  history.add({run_of(to_json(result_of(cases)))}, "");
  EXPECT_EQ(history.database().value("SELECT passed || ' ' || failed || ' ' || not_supported || ' ' || skipped || ' ' || "
                                     "inconclusive || ' ' || hang || ' ' || crash || ' of ' || cases FROM runs"),
            "1 2 3 4 5 6 7 of 28");
  const Summary listed = history.list().front().summary;
  EXPECT_EQ((std::vector{listed.passed, listed.failed, listed.not_supported, listed.skipped, listed.inconclusive,
                         listed.hang, listed.crash, listed.cases}),
            (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 28}));
}

}  // namespace
}  // namespace ringcheck::reports
