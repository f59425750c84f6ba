// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// dK and dV are summed wrongly, or come home to the wrong rank.
#include <ATen/ATen.h>

#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"
#include "parity/faults/catalogue/cases.h"

namespace ringcheck::parity {
namespace {

using Add = std::function<void(GradientCarrier&, at::Tensor dk, at::Tensor dv, int step)>;

SharedSubject with_add(std::function<Add(Communicator&)> make) {
  return with_gradients([make](Communicator& comm) { return AroundCarrier{.add = make(comm)}; });
}

// The hops of gradients made another way.
SharedSubject with_hops(std::function<Pending(Communicator&, Posting)> hop) {
  return with_transfers([hop](Communicator&) {
    return [hop](Communicator& comm, Posting posting) {
      if (posting.is("exchange gradients")) return hop(comm, std::move(posting));
      return post(comm, std::move(posting));
    };
  });
}

const Named kTravellers{.tensors = {"dk", "dv"}};

const FaultGroup group{"carrier", {
  {"last_gradient_hop_missing", {
    .operators = {"M16"}, .stands_for = "TransformerEngine#2484",
    .wrong = "the sums stay where the last term was added, one hop from home",
    .site = Site::kCarrier, .cases = {cases::kFull},
    .names = {.tensors = {"dk", "dv"}, .words = {"messages"}},
    .subject = with_hops([](Communicator& comm, Posting posting) {
      if (posting.label.step < comm.size()) return post(comm, std::move(posting));
      return Pending([=] { posting.receives[0].data.copy_(posting.sends[0].data); });
    })}},
  {"gradients_to_a_neighbour", {
    .operators = {"M17"}, .stands_for = "dK and dV to neighbour",
    .wrong = "the last hop goes one rank too far",
    .site = Site::kCarrier, .cases = {cases::kFull},
    .names = {.tensors = {"dk", "dv"}, .words = {"bytes sent to rank"}},
    .subject = with_hops([](Communicator& comm, Posting posting) {
      if (posting.label.step == comm.size()) {
        posting.sends[0].peer = (comm.rank() + 2) % comm.size();
        posting.receives[0].peer = (comm.rank() + comm.size() - 2) % comm.size();
      }
      return post(comm, std::move(posting));
    })}},
  {"gradient_term_lost_on_a_rank", {
    .operators = {"M16"}, .stands_for = "ms-swift#9516",
    .wrong = "what rank 1 computes for the block of step 1 is lost",
    .site = Site::kCarrier, .cases = {cases::kFull}, .names = {.tensors = {"dk", "dv"}, .rank = 0},
    .subject = with_add([](Communicator& comm) {
      return [&comm](GradientCarrier& carrier, at::Tensor dk, at::Tensor dv, int step) {
        if (comm.rank() == 1 && step == 1) dk.zero_(), dv.zero_();
        carrier.add(dk, dv);
      };
    })}},
  {"gradient_term_added_twice", {
    .operators = {"M14"}, .stands_for = "double count",
    .wrong = "every rank adds its term of step 1 twice",
    .site = Site::kCarrier, .cases = {cases::kGathered}, .names = kTravellers,
    .subject = with_add([](Communicator&) {
      return [](GradientCarrier& carrier, at::Tensor dk, at::Tensor dv, int step) {
        if (step == 1) dk = dk * 2, dv = dv * 2;
        carrier.add(dk, dv);
      };
    })}},
  {"sum_overwritten", {
    .operators = {"M16"}, .stands_for = "last hop copied instead of added",
    .wrong = "a rank replaces the sum that arrives by its own term",
    .site = Site::kCarrier, .cases = {cases::kFull}, .names = kTravellers,
    .subject = with_hops([](Communicator& comm, Posting posting) {
      const bool home = posting.label.step == comm.size();
      const at::Tensor arrives = posting.receives[0].data;
      return Pending([home, arrives, pending = post(comm, std::move(posting))]() mutable {
        pending.wait();
        if (!home) arrives.zero_();
      });
    })}},
  {"gradients_not_reduced", {
    .operators = {"M39"}, .stands_for = "slime#1366, ms-swift#9516",
    .wrong = "no sum over ranks: each owner keeps its own term of dK and dV, the replicated "
              "weights of attention",
    .site = Site::kCarrier, .cases = {cases::kFull}, .names = kTravellers,
    .subject = with_add([](Communicator&) {
      return [](GradientCarrier& carrier, at::Tensor dk, at::Tensor dv, int step) {
        if (step > 0) dk.zero_(), dv.zero_();
        carrier.add(dk, dv);
      };
    })}},
  {"gradients_one_block_late", {
    .operators = {"M17"}, .stands_for = "Megatron-LM#1464",
    .wrong = "a term is added to the sum of the block that came a step later",
    .site = Site::kCarrier, .cases = {cases::kFull}, .names = kTravellers,
    .subject = with_add([](Communicator&) {
      return [dk_before = at::Tensor(), dv_before = at::Tensor()](
                 GradientCarrier& carrier, at::Tensor dk, at::Tensor dv, int step) mutable {
        if (step == 0) carrier.add(dk, dv);
        else carrier.add(dk_before, dv_before);
        dk_before = dk, dv_before = dv;
      };
    })}},
}};

}  // namespace
}  // namespace ringcheck::parity
