// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Streams of a GPU that do not wait for each other. Each bug is planted under random delays of what
// it fails to wait for, and its control is the right subject under the same delays.
#include <ATen/ATen.h>

#include <type_traits>

#include "cp/device/moment.h"
#include "parity/faults/decorators/delays.h"
#include "parity/faults/decorators/side.h"
#include "parity/faults/fault.h"

namespace ringcheck::parity {
namespace {

using std::chrono::microseconds;

// Five ranks: a ring receives into the same buffer again from the third hop on.
constexpr const char* kRing = "ring:p2p/headtail/causal/P5/b2/hq4/hkv2/s40/d16/dv24";
constexpr const char* kGather = "ring:allgather/headtail/causal/P5/b2/hq4/hkv2/s40/d16/dv24";

constexpr Delays kSlowMessages{.messages = microseconds(4000)};
constexpr Delays kSlowKernels{.computing = microseconds(4000)};

// One kind of transfer made another way, with the help of a stream beside that of the rank.
using Hop = std::function<Pending(const Side& side, Communicator& comm, Posting posting)>;

Raced with_hops(std::string name, Hop hop) {
  return {.transfers = [=](Communicator& rank) -> Transfer {
    return [=, side = Side(rank.device())](Communicator& comm, Posting posting) {
      if (!posting.is(name.c_str())) return post(comm, std::move(posting));
      return hop(side, comm, std::move(posting));
    };
  }};
}

// Sends and receives as two transfers.
Pending post_sends(Communicator& comm, const Posting& posting) {
  return comm.transfer(posting.sends, {}, posting.label);
}
Pending post_receives(Communicator& comm, const Posting& posting) {
  return comm.transfer({}, posting.receives, posting.label);
}

Pending waited_for_beside(const Side& side, Communicator& comm, Posting posting) {
  return Pending([side, pending = post(comm, std::move(posting))]() mutable {
    side([&] { pending.wait(); });
  });
}

Pending sent_from_beside(const Side& side, Communicator& comm, Posting posting) {
  Pending sent = side([&] { return post_sends(comm, posting); });
  return Pending([sent, received = post_receives(comm, posting)]() mutable {
    received.wait();
    sent.wait();
  });
}

Pending received_beside(const Side& side, Communicator& comm, Posting posting) {
  Pending sent = post_sends(comm, posting);
  return Pending([sent, received = side([&] { return post_receives(comm, posting); })]() mutable {
    received.wait();
    sent.wait();
  });
}

Pending sender_waits_beside(const Side& side, Communicator& comm, Posting posting) {
  Pending sent = post_sends(comm, posting);
  return Pending([side, sent, received = post_receives(comm, posting)]() mutable {
    received.wait();
    side([&] { sent.wait(); });
  });
}

// A kernel on a stream of its own, which may wait too little before it or leave the rank's to wait
// too little after it.
class Beside final : public AttentionKernel {
 public:
  enum class Forgets { kWaitBefore, kWaitAfter };
  Beside(std::shared_ptr<const AttentionKernel> kernel, at::Device device, Forgets forgets)
      : kernel_(std::move(kernel)), device_(device), side_(device), forgets_(forgets) {}

  std::optional<std::string> refuses(const BlockShape& shape) const override {
    return kernel_->refuses(shape);
  }
  CallBytes call_bytes(const BlockShape& shape) const override {
    return kernel_->call_bytes(shape);
  }
  bool takes_d() const override { return kernel_->takes_d(); }
  Partial forward(const QBlock& q, const KvBlock& kv, const Scores& scores,
                  const Visibility& visibility) const override {
    return beside([&] { return kernel_->forward(q, kv, scores, visibility); });
  }
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Scores& scores,
                     const Visibility& visibility) const override {
    return beside([&] { return kernel_->backward(q, kv, saved, scores, visibility); });
  }

 private:
  template <class Work>
  std::invoke_result_t<Work> beside(const Work& work) const {
    const Moment before = forgets_ == Forgets::kWaitBefore ? Moment() : Moment::now(device_);
    Moment after;
    auto result = side_([&] {
      before.hold_back(device_);
      auto done = work();
      after = Moment::now(device_);
      return done;
    });
    if (forgets_ != Forgets::kWaitAfter) after.hold_back(device_);
    return result;
  }

  std::shared_ptr<const AttentionKernel> kernel_;
  at::Device device_;
  Side side_;
  Forgets forgets_;
};

Raced with_kernel_that(Beside::Forgets forgets) {
  return {.kernel = [=](std::shared_ptr<const AttentionKernel> kernel, Communicator& comm) {
    return std::make_shared<Beside>(std::move(kernel), comm.device(), forgets);
  }};
}

Fault race(std::string op, std::string stands_for, std::string wrong, const char* test,
           Named names, Delays delays, Raced changed) {
  const Site site = changed.kernel ? Site::kKernel : Site::kCommunicator;
  return {.operators = {std::move(op)}, .stands_for = std::move(stands_for),
          .wrong = std::move(wrong), .site = site, .cases = {test},
          .names = std::move(names), .subject = under_delays(delays, std::move(changed)),
          .races = true, .control = under_delays(delays)};
}

constexpr const char* kKv = "exchange kv";
constexpr const char* kSums = "exchange gradients";
const Named kForward{.tensors = {"o", "lse"}};
const Named kTravellers{.tensors = {"dk", "dv"}};

const FaultGroup group{"streams", {
  {"kv_used_before_it_arrived",
   race("M43", "TransformerEngine#1624",
        "the stream that attends does not wait for the copy of K and V: another one does",
        kRing, kForward, kSlowMessages, with_hops(kKv, waited_for_beside))},
  {"gathered_kv_used_before_it_arrived",
   race("M43", "TransformerEngine#1624",
        "the stream that attends does not wait for the all-gather of K and V", kGather, kForward,
        kSlowMessages, with_hops("all-gather kv", waited_for_beside))},
  {"gradients_added_before_they_arrived",
   race("M43", "TransformerEngine#1624",
        "a term is added to the travelling sum while the sum is still being copied", kRing,
        kTravellers, kSlowMessages, with_hops(kSums, waited_for_beside))},
  {"gradients_sent_before_they_are_added",
   race("M44", "TransformerEngine#1624",
        "the travelling sum is sent from a stream that does not wait for its addition", kRing,
        kTravellers, kSlowKernels, with_hops(kSums, sent_from_beside))},
  {"kv_received_into_a_buffer_in_use",
   race("M42", "PyTorch _attention.py",
        "K and V are received into the buffer of a block that a kernel still reads", kRing,
        kForward, kSlowKernels, with_hops(kKv, received_beside))},
  {"gradients_received_into_a_buffer_in_use",
   race("M42", "PyTorch _attention.py",
        "a travelling sum is received into the buffer of one that is still being added to", kRing,
        kTravellers, kSlowKernels, with_hops(kSums, received_beside))},
  {"kv_overwritten_while_it_is_sent",
   race("M42", "PyTorch _attention.py",
        "the buffer of K and V is used again before the neighbour has copied it", kRing, kForward,
        kSlowMessages, with_hops(kKv, sender_waits_beside))},
  {"kernel_on_a_stream_that_does_not_wait",
   race("M44", "TransformerEngine#1624",
        "the kernel runs on a second stream that does not wait for K and V", kRing, kForward,
        kSlowMessages, with_kernel_that(Beside::Forgets::kWaitBefore))},
  {"merged_before_the_kernel_is_done",
   race("M44", "TransformerEngine#1624",
        "partial results are merged on a stream that does not wait for the kernel's", kRing,
        kForward, kSlowKernels, with_kernel_that(Beside::Forgets::kWaitAfter))},
}};

}  // namespace
}  // namespace ringcheck::parity
