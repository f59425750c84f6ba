// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Every output is right, and so is every message: a rank holds too much.
#include <ATen/ATen.h>

#include "parity/faults/catalogue/cases.h"
#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"

namespace ringcheck::parity {
namespace {

constexpr const char* kAttending = "bytes held while a block is attended";

// A copy of every block that comes.
Next keeps_copies(Communicator&, const Layout&) {
  return [kept = std::vector<at::Tensor>()](Rotation& rotation, int step) mutable {
    if (step == 0) kept.clear();
    auto block = rotation.next();
    if (block) kept.push_back(own_copy(*block).packed);
    return block;
  };
}

// The last block that came, until the next pass begins.
Next keeps_the_last(Communicator&, const Layout&) {
  return [last = std::optional<KvBlock>()](Rotation& rotation, int step) mutable {
    if (step == 0) last.reset();
    auto block = rotation.next();
    if (block) last = block;
    return block;
  };
}

// What is sent is cloned, and the clone kept until the message has arrived.
Pending clones(Communicator& comm, Posting posting) {
  if (!posting.is("exchange kv")) return post(comm, std::move(posting));
  at::Tensor& send = posting.sends.at(0).data;
  send = send.clone();
  return Pending([clone = send, pending = post(comm, std::move(posting))]() mutable {
    pending.wait();
  });
}

// A scratch buffer that every step makes longer.
AroundKernel grows(Communicator&, const Case&) {
  const auto scratch = std::make_shared<at::Tensor>();
  const auto grow = [scratch](const KernelCall& call, const auto&) {
    *scratch = at::empty({(call.step + 1) * call.q.q.numel()}, call.q.q.options());
  };
  return {.after_forward = grow, .after_backward = grow};
}

// Each received block a second time, for as long as a kernel attends it.
void copies_the_block(KernelCall& call) {
  if (call.step > 0) call.kv = own_copy(call.kv);
}

// Our strategy with something done when a pass of it is through.
class Through final : public Strategy {
 public:
  explicit Through(std::unique_ptr<Strategy> strategy) : strategy_(std::move(strategy)) {}
  // O in float64, before it is rounded.
  Partial forward(const QBlock& q, const KvBlock& own) override {
    Partial whole = strategy_->forward(q, own);
    return {whole.out.to(at::kDouble, false, true), whole.lse};
  }
  Gradients backward(const QBlock& q, const KvBlock& own, const Saved& saved) override {
    return strategy_->backward(q, own, saved);
  }

 private:
  std::unique_ptr<Strategy> strategy_;
};

void widens_o(Parts& parts, Communicator&, const Case&) {
  parts.strategy.make = [make = parts.strategy.make](Communicator& comm, const Plan& plan) {
    return std::make_unique<Through>(make(comm, plan));
  };
}

// The partial results of all steps, merged one by one into a second sum, which nobody reads.
Merging merges_twice(const Case&) {
  return [](const Partial& a, const Partial& b) {
    const Partial unread = merge(b, a);
    return merge(a, b);
  };
}

const FaultGroup group{"held", {
  {"block_copied_while_attended", {
    .operators = {"M51"}, .stands_for = "B92 TransformerEngine#1208",
    .wrong = "a kernel is called with a copy of each received block, which is gone when it returns",
    .site = Site::kKernel, .cases = {cases::kCausal},
    .names = {.words = {"peak bytes while a kernel attends a block"}},
    .subject = with_calls(copies_the_block), .on_cpus = true}},
  {"o_widened_before_it_is_rounded", {
    .operators = {"M51"}, .stands_for = "B91 TransformerEngine#2916",
    .wrong = "O is brought to float64 before it is rounded",
    .site = Site::kStrategy, .cases = {cases::kCausal},
    .dtypes = {at::kFloat, at::kBFloat16, at::kHalf},
    .names = {.words = {"forward peak bytes after the last block"}},
    .subject = with_parts(widens_o), .on_cpus = true}},
  {"partials_merged_twice", {
    .operators = {"M51"}, .stands_for = "B91 TransformerEngine#2916",
    .wrong = "every partial result is merged into a second sum, which is thrown away",
    .site = Site::kMerge, .cases = {cases::kCausal},
    .names = {.words = {"forward peak bytes between the blocks"}},
    .subject = with_merge(merges_twice), .on_cpus = true}},
  {"received_blocks_copied", {
    .operators = {"M51"}, .stands_for = "TransformerEngine#1208",
    .wrong = "a copy of every received block of K and V is kept to the end of the pass",
    .site = Site::kCounters, .cases = {cases::kCausal}, .names = {.words = {kAttending}},
    .subject = with_rotation(keeps_copies), .on_cpus = true}},
  {"block_held_between_the_passes", {
    .operators = {"M51"}, .stands_for = "TransformerEngine#1208",
    .wrong = "the last block of K and V that came is held until the backward pass begins",
    .site = Site::kCounters, .cases = {cases::kCausal},
    .names = {.words = {"bytes held between the passes"}},
    .subject = with_rotation(keeps_the_last), .on_cpus = true}},
  {"clone_per_hop", {
    .operators = {"M51"}, .stands_for = "TransformerEngine#1208",
    .wrong = "K and V are cloned before each hop",
    .site = Site::kCounters, .cases = {cases::kCausal}, .names = {.words = {kAttending}},
    .subject = with_transfers([](Communicator&) { return clones; }), .on_cpus = true}},
  {"scratch_grows", {
    .operators = {"M51"}, .stands_for = "TransformerEngine#2916",
    .wrong = "a scratch buffer under no tag grows with every step",
    .site = Site::kCounters, .cases = {cases::kCausal}, .names = {.words = {kAttending}},
    .subject = with_kernel(grows), .on_cpus = true}},
}};

}  // namespace
}  // namespace ringcheck::parity
