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

// A copy of every block that comes, under no tag.
Next keeps_copies(Communicator&, const Layout&) {
  return [kept = std::vector<at::Tensor>()](Rotation& rotation, int step) mutable {
    if (step == 0) kept.clear();
    auto block = rotation.next();
    if (block) kept.push_back(block->packed.clone());
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

const FaultGroup group{"held", {
  {"received_blocks_copied", {
    .operators = {"M51"}, .stands_for = "B92 TransformerEngine#1208",
    .wrong = "a copy of every received block of K and V is kept to the end of the pass",
    .site = Site::kCounters, .cases = {cases::kCausal}, .names = {.words = {kAttending}},
    .subject = with_rotation(keeps_copies), .on_cpus = true}},
  {"block_held_between_the_passes", {
    .operators = {"M51"}, .stands_for = "B92 TransformerEngine#1208",
    .wrong = "the last block of K and V that came is held until the backward pass begins",
    .site = Site::kCounters, .cases = {cases::kCausal},
    .names = {.words = {"bytes held between the passes"}},
    .subject = with_rotation(keeps_the_last), .on_cpus = true}},
  {"clone_per_hop", {
    .operators = {"M51"}, .stands_for = "B92 TransformerEngine#1208",
    .wrong = "K and V are cloned before each hop",
    .site = Site::kCounters, .cases = {cases::kCausal}, .names = {.words = {kAttending}},
    .subject = with_transfers([](Communicator&) { return clones; }), .on_cpus = true}},
  {"scratch_grows", {
    .operators = {"M51"}, .stands_for = "B91 TransformerEngine#2916",
    .wrong = "a scratch buffer under no tag grows with every step",
    .site = Site::kCounters, .cases = {cases::kCausal}, .names = {.words = {kAttending}},
    .subject = with_kernel(grows), .on_cpus = true}},
}};

}  // namespace
}  // namespace ringcheck::parity
