// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/subject.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "cp/ledger/memory.h"

namespace ringcheck::parity {
namespace {

// Elements of pad slots that hold something: `empty` is what a pad slot must hold.
int64_t wrong(const at::Tensor& x, const at::Tensor& pads, double empty) {
  if (!x.defined() || pads.numel() == 0) return 0;
  return x.index_select(2, pads).ne(empty).sum().item<int64_t>();
}

int64_t wrong_pads(const Case& test, const Positions& positions, const RankOutput& output) {
  const Mask mask = mask_of(test);
  std::vector<int64_t> slots;
  int64_t slot = 0;
  for (const int64_t position : flatten(positions)) {
    if (!is_token(mask, position)) slots.push_back(slot);
    ++slot;
  }
  const at::Tensor pads = at::tensor(slots, at::kLong).to(output.o.device());
  return wrong(output.o, pads, 0) + wrong(output.lse, pads, -INFINITY) +
         wrong(output.dq, pads, 0) + wrong(output.dk, pads, 0) + wrong(output.dv, pads, 0);
}

RankRecord measured(const Communicator& comm) {
  const Ledger& ledger = comm.ledger();
  const std::vector<int>& members = comm.group().world_ranks;
  RankRecord record;
  record.forward = ledger.sum(Phase::kForward);
  record.backward = ledger.sum(Phase::kBackward);
  record.forward_seconds = ledger.seconds(Phase::kForward);
  record.backward_seconds = ledger.seconds(Phase::kBackward);
  record.peak_bytes = ledger.memory()->total().peak;
  record.kv_bytes = ledger.memory()->tagged(MemoryTag::kKv).peak;
  record.traveller_bytes = ledger.memory()->tagged(MemoryTag::kTraveller).peak;
  record.sent_to.resize(members.size());
  record.received_from.resize(members.size());
  for (const Transferred& event : ledger.transfers()) {
    const bool sent = event.direction == Transferred::Direction::kSent;
    const auto peer = std::ranges::find(members, event.operation.peer) - members.begin();
    (sent ? record.sent_to : record.received_from).at(peer) += event.bytes;
  }
  return record;
}

// All of a problem whose result nobody looks at.
void solve_aside(ContextParallel& attention, const Problem& local) {
  auto context = attention.forward(local.q, local.k, local.v);
  attention.backward(context, local.d_o);
}

// The tensors of both passes; everything else is gone when it returns.
RankOutput both_passes(Communicator& comm, const ContextParallel::Options& parts,
                       const Problem& local, const std::optional<Problem>& meanwhile) {
  ContextParallel attention(comm, parts);
  auto context = attention.forward(local.q, local.k, local.v);
  if (meanwhile) {
    attention.backward(context, local.d_o);
    solve_aside(attention, meanwhile->to(comm.device(), true));
  }
  const Gradients gradients = attention.backward(context, local.d_o);
  RankOutput output{context.o, context.lse, gradients.dq, gradients.dk, gradients.dv, {}, {}, {}};
  output.solved_meanwhile = meanwhile.has_value();
  if (parts.rope.pairing != Rope::Pairing::kNone) {
    output.q_rotated = context.q.q;
    output.k_rotated = context.kv.k().clone();
  }
  return output;
}

// A rank's allocations, told to its ledger and to whoever counts around it.
class ToldTwice final : public c10::MemoryReportingInfoBase {
 public:
  explicit ToldTwice(std::shared_ptr<MemoryMeter> ledger)
      : ledger_(std::move(ledger)),
        around_(static_cast<c10::MemoryReportingInfoBase*>(
            c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PROFILER_STATE))) {}
  void reportMemoryUsage(void* pointer, int64_t bytes, size_t allocated, size_t reserved,
                         c10::Device device) override {
    ledger_->reportMemoryUsage(pointer, bytes, allocated, reserved, device);
    if (around_) around_->reportMemoryUsage(pointer, bytes, allocated, reserved, device);
  }
  bool memoryProfilingEnabled() const override { return true; }

 private:
  std::shared_ptr<MemoryMeter> ledger_;
  c10::MemoryReportingInfoBase* around_;
};

}  // namespace

ContextParallel::Options options_of(const Case& test) {
  return {Strategies::at(test.strategy), plan_of(test), test.rope};
}

RankOutput context_parallel(Communicator& comm, const Case& test, const RankInput& input) {
  return context_parallel_with(options_of(test), comm, test, input);
}

RankOutput context_parallel_with(const ContextParallel::Options& parts, Communicator& comm,
                                 const Case& test, const RankInput& input) {
  RankOutput output;
  comm.ledger().restart();
  {
    const c10::DebugInfoGuard metered(c10::DebugInfoKind::PROFILER_STATE,
                                      std::make_shared<ToldTwice>(comm.ledger().memory()));
    output = both_passes(comm, parts, input.local.to(comm.device(), true), input.meanwhile);
  }
  output.record = measured(comm);
  output.record.wrong_pads = wrong_pads(test, input.positions, output);
  return output;
}

}  // namespace ringcheck::parity
