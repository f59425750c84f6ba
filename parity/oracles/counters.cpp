// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include "parity/judge/expected/expected.h"
#include "parity/judge/oracle.h"

namespace ringcheck::parity {
namespace {

class Findings {
 public:
  explicit Findings(int rank) : rank_(rank) {}

  void equal(const std::string& what, int64_t counted, int64_t expected) {
    if (counted != expected) add(what, counted, "expected exactly", expected);
  }
  void at_most(const std::string& what, int64_t counted, int64_t limit) {
    if (counted > limit) add(what, counted, "expected at most", limit);
  }
  std::vector<std::string> list;

 private:
  void add(const std::string& what, int64_t counted, const char* relation, int64_t expected) {
    list.push_back(c10::str("rank ", rank_, " ", what, ": ", counted, ", ", relation, " ", expected));
  }
  int rank_;
};

void check_pass(const std::string& pass, const Counters& counted, const ExpectedPass& expected,
                Findings& findings) {
  findings.equal(pass + " bytes sent", counted.bytes_sent, expected.bytes);
  findings.equal(pass + " bytes received", counted.bytes_received, expected.bytes);
  findings.equal(pass + " messages", counted.messages, expected.messages);
  findings.equal(pass + " pairs attended", counted.pairs, expected.pairs);
  findings.equal(pass + " FLOPs", counted.flops, expected.flops);
  findings.equal(pass + " steps", counted.steps, expected.steps);
}

std::vector<std::string> check_rank(const Case& test, int rank, const RankRecord& record) {
  const ExpectedCounters expected = expected_counters(test, rank);
  Findings findings(rank);
  check_pass("forward", record.forward, expected.forward, findings);
  check_pass("backward", record.backward, expected.backward, findings);
  findings.equal("forward merges", record.forward.merges, expected.forward.merges);
  findings.equal("K and V bytes held", record.kv_bytes, expected.kv_bytes);
  findings.equal("gradient traveller bytes held", record.traveller_bytes, expected.traveller_bytes);
  findings.at_most("peak bytes", record.peak_bytes, expected.peak_bytes);
  for (int peer = 0; peer < test.world; ++peer) {
    findings.equal(c10::str("bytes sent to rank ", peer), record.sent_to.at(peer), expected.sent_to[peer]);
    findings.equal(c10::str("bytes received from rank ", peer), record.received_from.at(peer),
                   expected.received_from[peer]);
  }
  return findings.list;
}

OracleVerdict judge(const Evidence& evidence) {
  OracleVerdict verdict;
  verdict.contract = true;
  const auto& ranks = evidence.outcome.ranks;
  if (static_cast<int>(ranks.size()) != evidence.test.world)
    verdict.findings.push_back(c10::str(ranks.size(), " ranks reported, expected ", evidence.test.world));
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    for (std::string& finding : check_rank(evidence.test, static_cast<int>(rank), ranks[rank]))
      verdict.findings.push_back(std::move(finding));
  if (!verdict.findings.empty()) verdict.status = Status::kFail;
  return verdict;
}

const Oracles::Add registered{
    "counters",
    {"bytes, messages, peers, pairs, FLOPs and memory of every rank equal their closed forms",
     judge,
     {}, Oracle::Rigour::kExact, "S"}};

}  // namespace
}  // namespace ringcheck::parity
