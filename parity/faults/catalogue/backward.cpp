// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The forward pass is right, the gradients of a block are not.
#include <ATen/ATen.h>

#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"
#include "parity/faults/catalogue/cases.h"

namespace ringcheck::parity {
namespace {

// What the backward pass of a block is given, changed.
SharedSubject with_saved(std::function<void(Saved&, const Case&)> change) {
  return with_kernel([change](Communicator&, const Case& test) {
    return AroundKernel{[=](KernelCall& call) {
      if (call.saved) change(*call.saved, test);
    }};
  });
}

SharedSubject with_term(std::function<void(Gradients&, int step, const Case&)> change) {
  return with_kernel([change](Communicator&, const Case& test) {
    return AroundKernel{.after_backward = [=](const KernelCall& call, Gradients& term) {
      change(term, call.step, test);
    }};
  });
}

Partial forward_alone(const AttentionKernel& kernel, const KernelCall& call) {
  return kernel.forward(call.q, call.kv, call.scores,
                        visibility_of(call.q, call.kv, call.scores));
}

// The kernel of the plan, with the LSE of each block in place of the final one.
SharedSubject with_block_lse() {
  return with_parts([](Parts& parts, Communicator&, const Case&) {
    parts.plan.kernel = with_around(
        parts.plan.kernel, {[kernel = parts.plan.kernel](KernelCall& call) {
          if (call.saved)
            call.saved->lse = forward_alone(*kernel, call).lse;
        }});
  });
}

// D from the output of the block alone.
SharedSubject with_block_delta() {
  return with_parts([](Parts& parts, Communicator&, const Case&) {
    parts.plan.kernel = with_around(
        parts.plan.kernel, {[kernel = parts.plan.kernel](KernelCall& call) {
          if (!call.saved) return;
          const Partial part = forward_alone(*kernel, call);
          call.saved->d = (call.saved->d_o.to(part.out.scalar_type()) * part.out).sum(-1);
        }});
  });
}

// Of a kernel that is given D.
SharedSubject with_delta(const std::function<at::Tensor(const at::Tensor& d)>& change) {
  return with_saved([change](Saved& saved, const Case&) {
    if (saved.d.defined()) saved.d = change(saved.d);
  });
}

const Named kScores{.tensors = {"dq", "dk"}};
const Named kAll{.tensors = {"dq", "dk", "dv"}};

const FaultGroup group{"backward", {
  {"stale_kv_in_backward", {
    .operators = {"M18"}, .stands_for = "diffusers#14265",
    .wrong = "the backward pass attends to its own K and V at every step",
    .site = Site::kRotation, .cases = {cases::kCausal}, .names = kAll,
    .subject = with_rotation([](Communicator& comm, const Layout&) {
      return [&comm, own = PackedKv()](Rotation& rotation, int step) mutable {
        auto block = rotation.next();
        if (!block || comm.ledger().phase() != Phase::kBackward) return block;
        if (step == 0) own = *block;
        static_cast<PackedKv&>(*block) = own;
        return block;
      };
    })}},
  {"dq_misses_last_step", {
    .operators = {"M19"}, .stands_for = "dQ last step missing",
    .wrong = "the last block adds nothing to dQ",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = {.tensors = {"dq"}},
    .subject = with_term([](Gradients& term, int step, const Case& test) {
      if (step == test.world - 1) term.dq.zero_();
    })}},
  {"dq_zero", {
    .operators = {"M19"}, .stands_for = "dQ = 0",
    .wrong = "dQ is zero",
    .site = Site::kKernel, .cases = {cases::kFull}, .names = {.tensors = {"dq"}},
    .subject = with_term([](Gradients& term, int, const Case&) { term.dq.zero_(); })}},
  {"backward_with_block_lse", {
    .operators = {"M20"}, .stands_for = "flash-linear-attention#1115",
    .wrong = "P is recomputed with the LSE of the block in place of the final one",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kAll, .subject = with_block_lse()}},
  {"delta_of_block", {
    .operators = {"M20"}, .stands_for = "D local",
    .wrong = "D is that of the block's own output",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kScores,
    .subject = with_block_delta(), .moot_with = cases::kOwnDelta}},
  {"delta_zero", {
    .operators = {"M20"}, .stands_for = "D = 0",
    .wrong = "the backward pre-process is left out: D = 0",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kScores,
    .subject = with_delta([](const at::Tensor& d) { return at::zeros_like(d); }),
    .moot_with = cases::kOwnDelta}},
  {"delta_of_another_head", {
    .operators = {"M20"}, .stands_for = "flash-linear-attention#1115",
    .wrong = "the pre-process misses the head offset: D of the head before",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kScores,
    .subject = with_delta([](const at::Tensor& d) { return d.roll(1, 1); }),
    .moot_with = cases::kOwnDelta}},
  {"gradient_scale_missing_in_dk", {
    .operators = {"M53"}, .stands_for = "missing scale",
    .wrong = "dK lacks the softmax scale",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = {.tensors = {"dk"}},
    .subject = with_term([](Gradients& term, int, const Case& test) {
      term.dk = term.dk / scale_of(test);
    })}},
  {"group_mean_in_dv", {
    .operators = {"M26"}, .stands_for = "missing GQA reduction",
    .wrong = "dV is the mean over the query heads that share it, not their sum",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = {.tensors = {"dv"}},
    .subject = with_term([](Gradients& term, int, const Case& test) {
      term.dv = term.dv / static_cast<double>(test.q_heads / test.kv_heads);
    })}},
  {"backward_without_mask_on_other_blocks", {
    .operators = {"M18"}, .stands_for = "TensorRT-LLM#13821",
    .wrong = "backward, blocks of other ranks are taken as fully visible",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kAll,
    .subject = with_kernel([](Communicator&, const Case&) {
      return AroundKernel{[](KernelCall& call) {
        if (call.saved && !(call.q.positions == call.kv.positions)) call.scores.mask.kind = Full{};
      }};
    })}},
}};

}  // namespace
}  // namespace ringcheck::parity
