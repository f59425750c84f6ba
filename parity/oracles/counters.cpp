// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <iterator>
#include <numeric>

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
  void at_least(const std::string& what, int64_t counted, int64_t limit) {
    if (counted < limit) add(what, counted, "expected at least", limit);
  }
  void at_most(const std::string& what, int64_t counted, int64_t limit) {
    if (counted > limit) add(what, counted, "expected at most", limit);
  }
  void says(const std::string& what) { list.push_back(c10::str("rank ", rank_, " ", what)); }
  std::vector<std::string> list;

 private:
  void add(const std::string& what, int64_t counted, const char* relation, int64_t expected) {
    says(c10::str(what, ": ", counted, ", ", relation, " ", expected));
  }
  int rank_;
};

void check_traffic(const std::string& pass, const Counters& counted, const ExpectedPass& expected,
                   Findings& findings) {
  findings.equal(pass + " bytes sent", counted.bytes_sent, expected.bytes);
  findings.equal(pass + " bytes received", counted.bytes_received, expected.bytes);
  findings.equal(pass + " messages", counted.messages, expected.messages);
}

// The harness counts the whole call: nothing moves outside the passes of a strategy.
void check_outside(const RankRecord& record, Findings& findings) {
  const Counters &forward = record.forward, &backward = record.backward;
  findings.equal("bytes sent outside the passes",
                 record.bytes_sent - forward.bytes_sent - backward.bytes_sent, 0);
  findings.equal("bytes received outside the passes",
                 record.bytes_received - forward.bytes_received - backward.bytes_received, 0);
  findings.equal("messages outside the passes",
                 record.messages - forward.messages - backward.messages, 0);
}

// Of a subject that does not mark its passes.
void check_call(const RankRecord& record, const ExpectedCounters& expected, Findings& findings) {
  const int64_t bytes = expected.forward.bytes + expected.backward.bytes;
  findings.equal("bytes sent in the whole call", record.bytes_sent, bytes);
  findings.equal("bytes received in the whole call", record.bytes_received, bytes);
  findings.equal("messages in the whole call", record.messages,
                 expected.forward.messages + expected.backward.messages);
}

void check_work(const std::string& pass, const Counters& counted, const ExpectedPass& expected,
                Findings& findings) {
  findings.equal(pass + " pairs attended", counted.pairs, expected.pairs);
  findings.equal(pass + " FLOPs", counted.flops, expected.flops);
  findings.equal(pass + " steps", counted.steps, expected.steps);
  if (counted.overlapped)
    findings.equal(pass + " steps while a message is under way", *counted.overlapped, expected.overlapped);
}

// Which heads those pairs are of, as the blocks that were attended say; where there are other pairs
// than expected, that is said already.
void check_heads(const std::string& pass, const Counters& counted, const std::vector<int64_t>& by_head,
                 const std::vector<int64_t>& expected, Findings& findings) {
  if (counted.pairs != std::accumulate(expected.begin(), expected.end(), int64_t{0})) return;
  for (size_t head = 0; head < expected.size(); ++head)
    findings.equal(c10::str(pass, " pairs of key-value head ", head), head < by_head.size() ? by_head[head] : 0,
                   expected[head]);
}

// What a communicator carries is waited for before the pass is over: a buffer is read, or used again,
// too early otherwise. Of what goes round the communicators nobody knows.
void check_waits(const RankRecord& record, Findings& findings) {
  findings.equal("forward messages that nobody waits for", record.forward.unwaited, 0);
  findings.equal("backward messages that nobody waits for", record.backward.unwaited, 0);
  for (const std::string& operation : record.unwaited) findings.says("never waits for " + operation);
}

// A kernel that computes what nobody sees, and throws it away, computes more than its tiles hold.
void check_computed(const RankRecord& record, const ExpectedCounters& expected,
                    Findings& findings) {
  if (!expected.most_computed) return;
  for (const auto& [pass, counted, pairs] :
       {std::tuple("forward", record.forward.computed, expected.forward.pairs),
        {"backward", record.backward.computed, expected.backward.pairs}}) {
    findings.at_least(std::string(pass) + " pairs computed", counted, pairs);
    findings.at_most(std::string(pass) + " pairs computed", counted, *expected.most_computed);
  }
}

// By stage, so that what comes and goes in one is not hidden by what another needs.
void check_peaks(const std::string& pass, const Stock& counted, const Stock& expected,
                 Findings& findings) {
  for (const auto& [stage, name] : {std::pair(Stage::kPrepare, "before the first block is attended"),
                                    {Stage::kAttend, "while a kernel attends a block"},
                                    {Stage::kCombine, "between the blocks"},
                                    {Stage::kFinish, "after the last block"}})
    findings.at_most(pass + " peak bytes " + name, counted.peak(stage), expected.peak(stage));
}

void check_memory(const RankRecord& record, const ExpectedCounters& expected, Findings& findings) {
  findings.equal("K and V bytes held", record.kv_bytes, expected.kv_bytes);
  findings.equal("bytes held of the dK and dV that travel home", record.traveller_bytes, expected.traveller_bytes);
  const auto holds = [&](const std::string& what, int64_t counted, int64_t bytes) {
    if (expected.rounding == 0) findings.equal(what, counted, bytes);
    else findings.at_most(what, counted, bytes + expected.rounding);
  };
  holds("forward bytes held while a block is attended", record.forward_stock.attending,
        expected.forward_stock.attending);
  holds("bytes held between the passes", record.forward_stock.after, expected.forward_stock.after);
  holds("backward bytes held while a block is attended", record.backward_stock.attending,
        expected.backward_stock.attending);
  holds("bytes held after the backward pass", record.backward_stock.after,
        expected.backward_stock.after);
  check_peaks("forward", record.forward_stock, expected.forward_stock, findings);
  check_peaks("backward", record.backward_stock, expected.backward_stock, findings);
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

std::vector<std::string> check_rank(const Case& test, const std::set<Counts>& counts, int rank,
                                    const RankRecord& record, const ExpectedCounters& expected) {
  Findings findings(rank);
  const auto passes = [&](const auto& check) {
    check("forward", record.forward, expected.forward, findings);
    check("backward", record.backward, expected.backward, findings);
  };
  if (counts.contains(Counts::kTraffic)) {
    passes(check_traffic);
    check_outside(record, findings);
  } else {
    check_call(record, expected, findings);
  }
  if (counts.contains(Counts::kWork)) {
    passes(check_work);
    const std::vector<int64_t> by_head = pairs_by_head(test, expected.heads, expected.forward.pairs);
    check_heads("forward", record.forward, record.forward_heads, by_head, findings);
    check_heads("backward", record.backward, record.backward_heads, by_head, findings);
    findings.equal("forward merges", record.forward.merges, expected.forward.merges);
    check_computed(record, expected, findings);
  }
  if (counts.contains(Counts::kMemory)) check_memory(record, expected, findings);
  check_waits(record, findings);
  check_peers(record, expected, findings);
  return findings.list;
}

// What the subject does not count is named; nobody has judged it.
std::vector<std::string> uncounted(const std::set<Counts>& counts,
                                   const std::vector<ExpectedCounters>& expected) {
  std::vector<std::string> list;
  for (const auto& [what, name] : {std::pair(Counts::kTraffic, "traffic of each pass"),
                                   {Counts::kWork, "work"}, {Counts::kMemory, "memory"}})
    if (!counts.contains(what)) list.push_back(std::string(name) + ": the subject does not count it");
  if (counts.contains(Counts::kWork) && !expected.front().most_computed)
    list.push_back("pairs computed: the kernel does not say");
  return list;
}

// By the word of a subject that works by no strategy: it sends so much, and nothing else.
OracleVerdict judged_by_word(const Promise& promise, const std::vector<RankRecord>& ranks) {
  OracleVerdict verdict;
  verdict.contract = true;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    Findings findings(static_cast<int>(rank));
    int64_t sent = 0, received = 0;
    for (size_t peer = 0; peer < ranks.size(); ++peer) {
      const int64_t to = promise.sends.at(rank).at(peer), from = promise.sends.at(peer).at(rank);
      findings.equal(c10::str("bytes sent to rank ", peer), ranks[rank].sent_to.at(peer), to);
      findings.equal(c10::str("bytes received from rank ", peer), ranks[rank].received_from.at(peer), from);
      sent += to, received += from;
    }
    findings.equal("bytes sent in the whole call", ranks[rank].bytes_sent, sent);
    findings.equal("bytes received in the whole call", ranks[rank].bytes_received, received);
    std::ranges::move(findings.list, std::back_inserter(verdict.findings));
  }
  if (!verdict.findings.empty()) verdict.status = Status::kFail;
  return verdict;
}

// Where no closed form judges it, it is told all the same.
OracleVerdict told(const std::vector<RankRecord>& ranks) {
  OracleVerdict verdict =
      not_applicable("no closed form says what a subject moves that works by no strategy");
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankRecord& r = ranks[rank];
    if (r.bytes_sent + r.bytes_received > 0)
      verdict.findings.push_back(c10::str("rank ", rank, " sent ", r.bytes_sent, " bytes in ",
                                          r.messages, " messages and received ", r.bytes_received));
    if (r.peak_bytes > 0)
      verdict.findings.push_back(
          c10::str("rank ", rank, " held at most ", r.peak_bytes, " bytes at a time, as its allocator saw"));
  }
  return verdict;
}

OracleVerdict judge(const Evidence& evidence) {
  const Case& test = evidence.test;
  const Promise promise = evidence.promise();
  const std::set<Counts>& counts = promise.counts;
  if (!promise.by_strategy)
    return promise.sends.empty() ? told(evidence.outcome.ranks) : judged_by_word(promise, evidence.outcome.ranks);
  OracleVerdict verdict;
  verdict.contract = true;
  const auto& ranks = evidence.outcome.ranks;
  if (static_cast<int>(ranks.size()) != test.world)
    verdict.findings.push_back(c10::str(ranks.size(), " ranks reported, expected ", test.world));
  const std::vector<ExpectedCounters> expected = expected_counters(test);
  for (size_t rank = 0; rank < std::min(ranks.size(), expected.size()); ++rank)
    for (std::string& finding :
         check_rank(test, counts, static_cast<int>(rank), ranks[rank], expected[rank]))
      verdict.findings.push_back(std::move(finding));
  if (!verdict.findings.empty()) verdict.status = Status::kFail;
  for (std::string& what : uncounted(counts, expected)) verdict.findings.push_back(std::move(what));
  return verdict;
}

const Oracles::Add registered{
    "counters",
    {.proves = "bytes, messages, peers, pairs, FLOPs and memory of every rank equal their closed forms, "
               "nothing moves outside the passes, and no message is posted for which nobody waits",
     .judge = judge, .rigour = Oracle::Rigour::kExact, .cost = "S", .of_form = true}};

}  // namespace
}  // namespace ringcheck::parity
