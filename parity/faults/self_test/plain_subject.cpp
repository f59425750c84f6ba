// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/self_test/plain_subject.h"

#include <ATen/ATen.h>

#include <stdexcept>

#include "parity/faults/self_test/plain_attention.h"
#include "parity/judge/expected/expected.h"

namespace ringcheck::parity::plain {
namespace {

class PlainSubject final : public Subject {
 public:
  std::optional<std::string> refuses(const Case&) const override { return std::nullopt; }
  Promise promise(const Case& test) const override {
    using Counts = Promise::Counts;
    Promise promise;
    promise.contract = contract_of(test);
    promise.deterministic = promise.by_strategy = promise.separate_passes =
        promise.autograd = promise.any_layout = true;
    promise.counts = {Counts::kTraffic, Counts::kWork, Counts::kMemory};
    if (test.rope.pairing != Rope::Pairing::kNone)
      promise.shows.insert({"q", "k"});
    return promise;
  }
  RankOutput run(Communicator&, const Case&, const RankInput&) const override {
    throw std::logic_error("plain loops answer for no rank");
  }
};

Counters counted(const ExpectedPass& pass) {
  return {.bytes_sent = pass.bytes, .bytes_received = pass.bytes, .messages = pass.messages,
          .pairs = pass.pairs, .flops = pass.flops, .steps = pass.steps, .merges = pass.merges,
          .computed = pass.pairs, .overlapped = pass.overlapped};
}

std::vector<RankRecord> records(const Case& test) {
  std::vector<RankRecord> ranks;
  for (const ExpectedCounters& expected : expected_counters(test)) {
    RankRecord record;
    record.forward = counted(expected.forward);
    record.backward = counted(expected.backward);
    record.bytes_sent = record.bytes_received = expected.forward.bytes + expected.backward.bytes;
    record.messages = expected.forward.messages + expected.backward.messages;
    record.forward_stock = expected.forward_stock;
    record.backward_stock = expected.backward_stock;
    record.peak_bytes = expected.peak_bytes;
    record.kv_bytes = expected.kv_bytes;
    record.traveller_bytes = expected.traveller_bytes;
    record.sent_to = expected.sent_to;
    record.received_from = expected.received_from;
    record.forward_heads = pairs_by_head(test, expected.heads, expected.forward.pairs);
    record.backward_heads = pairs_by_head(test, expected.heads, expected.backward.pairs);
    ranks.push_back(record);
  }
  return ranks;
}

}  // namespace

Outcome answer(const Run& run) {
  const Case& test = run.test;
  const Problem p = run.problem(test, {{0, test.seq}});
  const auto rounded = [&](const at::Tensor& x) { return x.to(test.dtype); };
  const at::Tensor q = rounded(turned(p.q, test, 1)), k = rounded(turned(p.k, test, 1));
  const reference::Tensors exact = attention({q, k, p.v, p.d_o, mask_of(test), scale_of(test)});
  Outcome outcome;
  outcome.tensors = {
      rounded(exact.o), exact.lse.to(test.dtype == at::kDouble ? at::kDouble : at::kFloat),
      rounded(turned(exact.dq, test, -1)), rounded(turned(exact.dk, test, -1)), rounded(exact.dv)};
  if (test.rope.pairing != Rope::Pairing::kNone) {
    outcome.q_rotated = q;
    outcome.k_rotated = k;
  }
  outcome.ranks = records(test);
  outcome.did_as_asked = run.meanwhile || run.by_autograd || run.layout;
  return outcome;
}

const Subject& subject() {
  static const PlainSubject plain;
  return plain;
}

}  // namespace ringcheck::parity::plain
