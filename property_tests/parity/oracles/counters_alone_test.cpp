// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// What no value shows: ours is right in every bit, and `counters` alone says what is wrong.
#include <c10/util/StringUtil.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parity/faults/decorators/subject.h"
#include "parity/judge/oracle.h"
#include "parity/judge/runner.h"
#include "property_tests/parity/oracles/spoilt.h"

namespace ringcheck {
namespace {

using parity::Status;
using parity::Verdict;

constexpr int kWorld = 3;

Verdict verified(const char* test, const parity::SharedSubject& subject) {
  parity::RunOptions options;
  options.subject = subject;
  return parity::verify(parity::parse_case(test), options);
}

// By `counters` alone, with this finding of the rank.
void is_seen_by_counters_alone(const Verdict& verdict, int rank, const std::string& finding) {
  EXPECT_EQ(verdict.status, Status::kFail) << "rank " << rank;
  for (const parity::OracleVerdict& of : verdict.oracles)
    EXPECT_EQ(of.status == Status::kFail, of.name == "counters") << of.name;
  const auto& findings = oracle(verdict, "counters").findings;
  EXPECT_THAT(findings, testing::Contains(c10::str("rank ", rank, " ", finding)));
  EXPECT_THAT(findings, testing::Each(testing::StartsWith(c10::str("rank ", rank, " "))));
}

// All that is under way comes at the end of the pass, and here a step before; nobody waited for it.
parity::SharedSubject never_waits(int rank) {
  return parity::with_transfers([rank](Communicator&) {
    return [rank](Communicator& comm, parity::Posting posting) {
      const bool here = comm.rank() == rank && comm.ledger().phase() == Phase::kForward && posting.label.step == 2;
      Pending pending = parity::post(comm, std::move(posting));
      return here ? Pending([&comm] { comm.finish(); }) : pending;
    };
  });
}

TEST(CountersAlone, NameTheMessageThatARankNeverWaitsFor) {
  for (int rank = 0; rank < kWorld; ++rank)
    is_seen_by_counters_alone(verified("ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s37/d8/bf16", never_waits(rank)),
                              rank, "never waits for forward 'exchange kv, step 2'");
}

// Says of its blocks, which are right, that they are of one of two heads.
parity::SharedSubject names_another_head(int rank) {
  return parity::with_rotation([rank](Communicator& comm, const Layout&) -> parity::Next {
    return [rank, here = comm.rank()](Rotation& rotation, int) {
      std::optional<KvBlock> block = rotation.next();
      if (block && here == rank) block->heads = {1, 1};
      return block;
    };
  });
}

TEST(CountersAlone, NameTheHeadsThatWereNotAttended) {
  for (int rank = 0; rank < kWorld; ++rank) {
    const Verdict verdict =
        verified("ring:p2p/headtail/full/P3/b1/hq4/hkv2/s36/d8/float32", names_another_head(rank));
    const int64_t pairs = 12 * 36 * 4;
    is_seen_by_counters_alone(verdict, rank,
                              c10::str("forward pairs of key-value head 0: 0, expected exactly ", pairs / 2));
    is_seen_by_counters_alone(
        verdict, rank, c10::str("backward pairs of key-value head 1: ", pairs, ", expected exactly ", pairs / 2));
  }
}

// What was counted of three ranks in a call in which no two of them send each other as much.
std::vector<parity::RankRecord> counted_of_unequal_ranks() {
  std::vector<parity::RankRecord> ranks(kWorld);
  ranks[0].sent_to = {0, 10, 200}, ranks[0].received_from = {0, 3000, 5};
  ranks[1].sent_to = {3000, 0, 40}, ranks[1].received_from = {10, 0, 0};
  ranks[2].sent_to = {5, 0, 0}, ranks[2].received_from = {200, 40, 0};
  ranks[0].bytes_sent = 210, ranks[0].bytes_received = 3005;
  ranks[1].bytes_sent = 3040, ranks[1].bytes_received = 10;
  ranks[2].bytes_sent = 5, ranks[2].bytes_received = 240;
  return ranks;
}

// By no strategy, which says what those ranks send.
parity::OracleVerdict judged_by_its_word(const std::vector<parity::RankRecord>& ranks) {
  const parity::SharedSubject subject = parity::ours_with(parity::context_parallel, [](parity::Promise& promise) {
    promise.by_strategy = false;
    promise.sends = {{0, 10, 200}, {3000, 0, 40}, {5, 0, 0}};
  });
  const parity::Case test = parity::parse_case("ring:p2p/contiguous/causal/P3/b1/hq1/hkv1/s6/d8/float32");
  const parity::Problem problem = parity::problem_of(test);
  parity::Outcome outcome;
  outcome.ranks = ranks;
  return parity::Oracles::at("counters").judge({test, *subject, problem, outcome, {}, [] {}});
}

// A rank receives what the others say that they send to it, which is not what it sends to them.
TEST(CountersAlone, HoldASubjectToItsWordOfEachPairOfRanks) {
  EXPECT_EQ(judged_by_its_word(counted_of_unequal_ranks()).status, Status::kPass);
  for (int rank = 0; rank < kWorld; ++rank)
    for (int peer = 0; peer < kWorld; ++peer)
      for (const bool sent : {true, false}) {
        std::vector<parity::RankRecord> ranks = counted_of_unequal_ranks();
        const int64_t right = (sent ? ranks[rank].sent_to : ranks[rank].received_from)[peer]++;
        const parity::OracleVerdict verdict = judged_by_its_word(ranks);
        EXPECT_EQ(verdict.status, Status::kFail);
        const std::string what = sent ? "bytes sent to" : "bytes received from";
        EXPECT_THAT(verdict.findings, testing::ElementsAre(c10::str("rank ", rank, " ", what, " rank ", peer, ": ",
                                                                    right + 1, ", expected exactly ", right)));
      }
}

// What goes to nobody that is known, or comes from nobody, is in the sums alone.
TEST(CountersAlone, HoldASubjectToItsWordOfAllThatMoves) {
  for (int rank = 0; rank < kWorld; ++rank)
    for (int64_t parity::RankCounts::*bytes : {&parity::RankCounts::bytes_sent, &parity::RankCounts::bytes_received}) {
      std::vector<parity::RankRecord> ranks = counted_of_unequal_ranks();
      ++(ranks[rank].*bytes);
      EXPECT_THAT(judged_by_its_word(ranks).findings,
                  testing::ElementsAre(testing::StartsWith(c10::str("rank ", rank, " bytes "))));
    }
}

}  // namespace
}  // namespace ringcheck
