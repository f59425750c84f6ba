// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The transport does not deliver what was sent.
#include <ATen/ATen.h>

#include <cmath>
#include <stdexcept>
#include <thread>

#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"
#include "parity/faults/catalogue/cases.h"

namespace ringcheck::parity {
namespace {

constexpr const char* kHop = "exchange kv";

// The K and V that rank 2 gets in the last hop of the forward pass, which nobody gets from it.
bool is_hit(const Communicator& comm, const Posting& posting) {
  return comm.rank() == 2 && posting.is(kHop) && posting.label.step == comm.size() - 1 &&
         comm.ledger().phase() == Phase::kForward;
}

SharedSubject on_hit(std::function<Pending(Communicator&, Posting)> instead) {
  return with_transfers([instead](Communicator&) {
    return [instead](Communicator& comm, Posting posting) {
      if (is_hit(comm, posting)) return instead(comm, std::move(posting));
      return post(comm, std::move(posting));
    };
  });
}

// The message arrives, and is then changed.
SharedSubject spoilt(std::function<void(at::Tensor)> change) {
  return on_hit([change](Communicator& comm, Posting posting) {
    const at::Tensor arrives = posting.receives[0].data;
    return Pending([=, pending = post(comm, std::move(posting))]() mutable {
      pending.wait();
      change(arrives);
    });
  });
}

at::Tensor bits_of(const at::Tensor& x) {
  const int64_t bytes = static_cast<int64_t>(x.element_size());
  return x.view(bytes == 8 ? at::kLong : bytes == 4 ? at::kInt : at::kShort);
}

// Flips a bit of one element of K, counted from the sign bit (0) down.
SharedSubject flips(int from_the_top) {
  return spoilt([from_the_top](at::Tensor x) {
    const int bit = 8 * static_cast<int>(x.element_size()) - 1 - from_the_top;
    at::Tensor one = bits_of(x).narrow(0, 5, 1);
    one.bitwise_xor_(static_cast<int64_t>(uint64_t{1} << bit));
  });
}

void last_quarter(const at::Tensor& x, double value) {
  x.narrow(0, x.numel() - x.numel() / 4, x.numel() / 4).fill_(value);
}

// A rank of the ring does something else from the first hop on.
SharedSubject rank_does(int rank, std::function<Pending(Communicator&, Posting)> instead) {
  return with_transfers([=](Communicator&) {
    return [=](Communicator& comm, Posting posting) {
      const bool first = posting.is(kHop) && posting.label.step == 1;
      if (comm.rank() == rank && first) return instead(comm, std::move(posting));
      return post(comm, std::move(posting));
    };
  });
}

// Every hop of K and V made another way.
SharedSubject with_hops(std::function<Pending(Communicator&, Posting)> hop) {
  return with_transfers([hop](Communicator&) {
    return [hop](Communicator& comm, Posting posting) {
      return posting.is(kHop) ? hop(comm, std::move(posting)) : post(comm, std::move(posting));
    };
  });
}

const Named kHit{.tensors = {"o", "lse"}, .rank = 2};
const Named kForward{.tensors = {"o", "lse"}};
const Named kWait{.words = {"exchange kv"}};

const FaultGroup group{"communication", {
  {"bit_flip_sign", {
    .operators = {}, .stands_for = "arXiv:2605.04213",
    .wrong = "the sign of one element of K flips on its way",
    .site = Site::kCommunicator, .cases = {cases::kFull}, .names = kHit, .subject = flips(0)}},
  {"bit_flip_exponent", {
    .operators = {}, .stands_for = "arXiv:2605.04213",
    .wrong = "a bit of the exponent of one element of K flips on its way",
    .site = Site::kCommunicator, .cases = {cases::kFull}, .names = kHit, .subject = flips(3)}},
  {"bit_flip_mantissa", {
    .operators = {}, .stands_for = "arXiv:2605.04213",
    .wrong = "a high bit of the mantissa of one element of K flips on its way",
    .site = Site::kCommunicator, .cases = {cases::kFull}, .names = kHit, .subject = flips(12)}},
  {"bit_flip_last", {
    .operators = {}, .stands_for = "arXiv:2605.04213",
    .wrong = "the last bit of one element of K flips on its way",
    .site = Site::kCommunicator, .cases = {cases::kFull, cases::kRaggedFull}, .names = kHit,
    .subject = spoilt([](at::Tensor x) { bits_of(x).narrow(0, 5, 1).bitwise_xor_(1); })}},
  {"warp_strided_corruption", {
    .operators = {}, .stands_for = "arXiv:2605.04213",
    .wrong = "several bits of every 32nd element flip on their way",
    .site = Site::kCommunicator, .cases = {cases::kFull}, .names = kHit,
    .subject = spoilt([](at::Tensor x) {
      const int shift = 8 * static_cast<int>(x.element_size()) - 12;
      at::Tensor lanes = bits_of(x).slice(0, 7, x.numel(), 32);
      lanes.bitwise_xor_(int64_t{0b101} << shift);
    })}},
  {"message_truncated", {
    .operators = {}, .stands_for = "truncated count",
    .wrong = "a count too small: the last quarter of every hop is not sent",
    .site = Site::kCommunicator, .cases = {cases::kFull},
    .names = {.tensors = {"o", "lse"}, .words = {"bytes sent"}},
    .subject = with_hops([](Communicator& comm, Posting posting) {
      const auto cut = [](at::Tensor& x) { x = x.narrow(0, 0, x.numel() - x.numel() / 4); };
      last_quarter(posting.receives[0].data, 0);
      cut(posting.sends[0].data);
      cut(posting.receives[0].data);
      return post(comm, std::move(posting));
    })}},
  {"tail_zeroed", {
    .operators = {}, .stands_for = "zeroed tail",
    .wrong = "the last quarter of one message arrives as zeros",
    .site = Site::kCommunicator, .cases = {cases::kFull}, .names = kHit,
    .subject = spoilt([](at::Tensor x) { last_quarter(x, 0); })}},
  {"stale_message", {
    .operators = {}, .stands_for = "replay",
    .wrong = "the second hop delivers the message of the first again",
    .site = Site::kCommunicator, .cases = {cases::kFull}, .names = kForward,
    .subject = with_transfers([](Communicator&) {
      return [before = at::Tensor()](Communicator& comm, Posting posting) mutable {
        if (!posting.is(kHop)) return post(comm, std::move(posting));
        const at::Tensor arrives = posting.receives[0].data, replay = before;
        at::Tensor kept = at::empty_like(arrives);
        before = kept;
        return Pending([=, pending = post(comm, std::move(posting))]() mutable {
          pending.wait();
          kept.copy_(arrives);
          if (replay.defined()) arrives.copy_(replay);
        });
      };
    })}},
  {"ring_turns_the_other_way", {
    .operators = {"M15"}, .stands_for = "peer swap",
    .wrong = "K and V go to the left neighbour and come from the right one",
    .site = Site::kCommunicator, .cases = {cases::kCausal},
    .names = {.tensors = {"o", "lse"}, .words = {"bytes sent to rank"}},
    .subject = with_hops([](Communicator& comm, Posting posting) {
      posting.sends[0].peer = comm.left();
      posting.receives[0].peer = comm.right();
      return post(comm, std::move(posting));
    })}},
  {"wait_dropped", {
    .operators = {"M43"}, .stands_for = "TransformerEngine#1624",
    .wrong = "nobody waits for the transfer of K and V before they are used",
    .site = Site::kCommunicator, .cases = {cases::kCausal}, .names = kForward,
    .subject = with_hops([](Communicator& comm, Posting posting) {
      static_cast<void>(post(comm, std::move(posting)));
      return Pending();
    })}},
  {"received_into_a_copy", {
    .operators = {"M41"}, .stands_for = "Megatron-LM#5337",
    .wrong = "what arrives lands in a contiguous copy that nobody looks at",
    .site = Site::kCommunicator, .cases = {cases::kCausal}, .names = kForward,
    .subject = with_hops([](Communicator& comm, Posting posting) {
      at::Tensor& receive = posting.receives[0].data;
      receive.zero_();
      receive = receive.clone();
      return post(comm, std::move(posting));
    })}},
  {"link_goes_dead", {
    .operators = {}, .stands_for = "drop",
    .wrong = "from the first hop on, nothing that rank 1 sends arrives",
    .site = Site::kCommunicator, .cases = {cases::kCausal},
    .names = {.rank = 2, .words = {"exchange kv, step 1, peer 1"}},
    .subject = with_transfers([](Communicator&) {
      return [](Communicator& comm, Posting posting) {
        if (comm.rank() == 1) posting.sends.clear();
        return post(comm, std::move(posting));
      };
    }),
    .hangs = true}},
  {"message_sent_twice", {
    .operators = {}, .stands_for = "duplicate",
    .wrong = "rank 1 sends its first block twice",
    .site = Site::kCommunicator, .cases = {cases::kCausal}, .names = {.words = {"peer 1"}},
    .subject = rank_does(1, [](Communicator& comm, Posting posting) {
      posting.sends.push_back(posting.sends[0]);
      return post(comm, std::move(posting));
    }), .hangs = true}},
  {"delay_beyond_deadline", {
    .operators = {}, .stands_for = "ring-flash-attention#39",
    .wrong = "rank 1 is silent for longer than the deadline",
    .site = Site::kCommunicator, .cases = {cases::kCausal}, .names = kWait,
    .subject = rank_does(1, [](Communicator& comm, Posting posting) {
      std::this_thread::sleep_for(3 * comm.deadline() / 2);
      return post(comm, std::move(posting));
    }), .hangs = true}},
  {"rank_aborts", {
    .operators = {}, .stands_for = "one-rank abort",
    .wrong = "rank 1 throws in its first hop",
    .site = Site::kCommunicator, .cases = {cases::kCausal}, .names = {.rank = 1},
    .subject = rank_does(1, [](Communicator&, Posting) -> Pending {
      throw std::runtime_error("a planted failure");
    })}},
  {"one_collective_too_many", {
    .operators = {"M45"}, .stands_for = "sglang#24694",
    .wrong = "the rank whose shard has padding makes one collective more",
    .site = Site::kStrategy, .cases = {cases::kRagged}, .names = {.words = {"the peer sent 8"}},
    .subject = ours_with([](Communicator& comm, const Case& test, const RankInput& input) {
      for (const auto& run : input.positions)
        if (run.begin + run.count > test.seq) comm.agree_max(int64_t{1});
      return context_parallel(comm, test, input);
    }), .hangs = true}},
  {"send_before_receive", {
    .operators = {"M46"}, .stands_for = "nccl#479",
    .wrong = "every rank completes its send before it posts its receive",
    .site = Site::kCommunicator, .cases = {cases::kCausal}, .names = kWait,
    .subject = with_hops([](Communicator& comm, Posting posting) {
      comm.transfer(std::move(posting.sends), {}, posting.label).wait();
      return comm.transfer({}, std::move(posting.receives), posting.label);
    }), .hangs = true}},
}};

}  // namespace
}  // namespace ringcheck::parity
