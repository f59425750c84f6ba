// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include "parity/judge/exact/exact.h"
#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

using Counts = Promise::Counts;

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

void check_traffic(const std::string& pass, const Counters& counted, const ExpectedPass& expected,
                   Findings& findings) {
  findings.equal(pass + " bytes sent", counted.bytes_sent, expected.bytes);
  findings.equal(pass + " bytes received", counted.bytes_received, expected.bytes);
  findings.equal(pass + " messages", counted.messages, expected.messages);
}

void check_work(const std::string& pass, const Counters& counted, const ExpectedPass& expected,
                Findings& findings) {
  findings.equal(pass + " pairs attended", counted.pairs, expected.pairs);
  findings.equal(pass + " FLOPs", counted.flops, expected.flops);
  findings.equal(pass + " steps", counted.steps, expected.steps);
}

void check_memory(const RankRecord& record, const ExpectedCounters& expected, Findings& findings) {
  findings.equal("K and V bytes held", record.kv_bytes, expected.kv_bytes);
  findings.equal("gradient traveller bytes held", record.traveller_bytes, expected.traveller_bytes);
  findings.at_most("peak bytes", record.peak_bytes, expected.peak_bytes);
}

void check_peers(const RankRecord& record, const ExpectedCounters& expected, Findings& findings) {
  for (size_t peer = 0; peer < expected.sent_to.size(); ++peer) {
    findings.equal(c10::str("bytes sent to rank ", peer), record.sent_to.at(peer),
                   expected.sent_to[peer]);
    findings.equal(c10::str("bytes received from rank ", peer), record.received_from.at(peer),
                   expected.received_from[peer]);
  }
}

std::vector<std::string> check_rank(const std::set<Counts>& counts, int rank,
                                    const RankRecord& record, const ExpectedCounters& expected) {
  Findings findings(rank);
  const auto passes = [&](const auto& check) {
    check("forward", record.forward, expected.forward, findings);
    check("backward", record.backward, expected.backward, findings);
  };
  if (counts.contains(Counts::kTraffic)) passes(check_traffic);
  if (counts.contains(Counts::kWork)) {
    passes(check_work);
    findings.equal("forward merges", record.forward.merges, expected.forward.merges);
  }
  if (counts.contains(Counts::kMemory)) check_memory(record, expected, findings);
  if (counts.contains(Counts::kTraffic)) check_peers(record, expected, findings);
  return findings.list;
}

// What the subject does not count is named; nobody has judged it.
std::vector<std::string> uncounted(const std::set<Counts>& counts) {
  std::vector<std::string> list;
  for (const auto& [what, name] : {std::pair(Counts::kTraffic, "traffic"),
                                   {Counts::kWork, "work"}, {Counts::kMemory, "memory"}})
    if (!counts.contains(what)) list.push_back(std::string(name) + ": the subject does not count it");
  return list;
}

OracleVerdict judge(const Evidence& evidence) {
  const Case& test = evidence.test;
  const Promise promise = evidence.promise();
  const std::set<Counts>& counts = promise.counts;
  if (counts.empty()) return not_applicable("the subject counts nothing");
  if (!promise.by_strategy)
    return not_applicable("no closed form says what a subject counts that works by no strategy");
  OracleVerdict verdict;
  verdict.contract = true;
  const auto& ranks = evidence.outcome.ranks;
  if (static_cast<int>(ranks.size()) != test.world)
    verdict.findings.push_back(c10::str(ranks.size(), " ranks reported, expected ", test.world));
  const std::vector<ExpectedCounters> expected = expected_counters(test);
  for (size_t rank = 0; rank < std::min(ranks.size(), expected.size()); ++rank)
    for (std::string& finding :
         check_rank(counts, static_cast<int>(rank), ranks[rank], expected[rank]))
      verdict.findings.push_back(std::move(finding));
  if (!verdict.findings.empty()) verdict.status = Status::kFail;
  for (std::string& what : uncounted(counts)) verdict.findings.push_back(std::move(what));
  return verdict;
}

const Oracles::Add registered{
    "counters",
    {.proves = "bytes, messages, peers, pairs, FLOPs and memory of every rank equal their closed forms",
     .judge = judge, .rigour = Oracle::Rigour::kExact, .cost = "S", .of_form = true}};

}  // namespace
}  // namespace ringcheck::parity
