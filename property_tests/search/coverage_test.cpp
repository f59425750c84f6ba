// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/search/coverage.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "parity/judge/runner.h"

namespace ringcheck::search {
namespace {

using parity::Case;
using parity::Status;
using ::testing::HasSubstr;

parity::CaseSpace space() { return {parity::search_ranges(8), "cpu"}; }

// Cells count what was judged; what is required and was not seen is missing.
TEST(Coverage, CountsJudgedCasesAndNamesWhatIsMissing) {
  Coverage coverage(space());
  const size_t required = coverage.missing().size();
  EXPECT_GT(required, 60U);
  parity::Verdict verdict = parity::verify(
      parity::parse_case("ring:p2p/contiguous/causal/P3/s7/hq4/hkv2/d8/fp16/flat"), {});
  coverage.add(verdict);
  const auto cells = cells_of(verdict);
  for (const Cell& cell : {Cell{"world", "3"}, Cell{"mask", "causal"}, Cell{"query group", "2"},
                           Cell{"length against granule", "one over"}, Cell{"strategy", "ring:p2p"}})
    EXPECT_THAT(cells, ::testing::Contains(cell));
  EXPECT_EQ(coverage.json()["cells"]["world"]["3"], 1);
  EXPECT_EQ(coverage.json()["cells"]["world"]["4"], 0);
  // That there are no documents is no required cell.
  EXPECT_EQ(required - coverage.missing().size(), cells.size() - 1);
  EXPECT_THAT(coverage.table(), HasSubstr("causal 1"));
  verdict.status = Status::kInconclusive;
  coverage.add(verdict);
  EXPECT_EQ(coverage.json()["cells"]["world"]["3"], 1);
}

// The owner of the worst element is the rank that holds it, whichever the balancer.
TEST(Coverage, KnowsTheRankOfTheWorstElement) {
  for (const char* balance : {"contiguous", "headtail", "striped[2]"}) {
    const Case test = parity::parse_case(std::string("ring:p2p/P4/s32/d8/float64/") + balance);
    for (int culprit = 0; culprit < 4; ++culprit) {
      parity::RunOptions options;
      options.subject = parity::ours_with([culprit](Communicator& comm, const Case& c, const auto& input) {
        auto output = parity::context_parallel(comm, c, input);
        if (comm.rank() == culprit)
          output.o.mul_(1.5);
        return output;
      });
      const parity::Verdict verdict = parity::verify(test, options);
      for (const parity::OracleVerdict& oracle : verdict.oracles)
        if (oracle.name == "parity") {
          EXPECT_EQ(oracle.tensors.at(0).worst_rank, culprit) << balance;
        }
    }
  }
}

}  // namespace
}  // namespace ringcheck::search
