// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// What no value shows: ours is right in every bit, and `counters` alone says what is wrong.
#include <c10/util/StringUtil.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parity/faults/decorators/subject.h"
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

}  // namespace
}  // namespace ringcheck
