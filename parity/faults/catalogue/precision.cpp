// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The right formula in too few bits.
#include <ATen/ATen.h>

#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"
#include "parity/faults/catalogue/cases.h"

namespace ringcheck::parity {
namespace {

// The type with about half the bits of the accumulation type: what somebody would take by mistake.
at::ScalarType narrow(at::ScalarType dtype) {
  if (dtype == at::kDouble) return at::kFloat;
  return dtype == at::kFloat ? at::kBFloat16 : dtype;
}

at::Tensor rounded(const at::Tensor& x, at::ScalarType type) {
  return x.to(type).to(x.scalar_type());
}

SharedSubject with_rounded_gradients(at::Tensor Gradients::*which) {
  return with_kernel([which](Communicator&, const Case& test) {
    return AroundKernel{.after_backward = [=](const KernelCall&, Gradients& term) {
      term.*which = rounded(term.*which, narrow(test.dtype));
    }};
  });
}

const std::vector<at::ScalarType> k32{at::kFloat};
constexpr const char* kRoundsParts = "a kernel that gives back partial results in the dtype";

const FaultGroup group{"precision", {
  {"output_accumulated_narrow", {
    .operators = {"M07"}, .stands_for = "TransformerEngine#821",
    .wrong = "O is rounded to the dtype after every merge",
    .site = Site::kMerge, .cases = {cases::kCharted}, .names = {.tensors = {"o"}},
    .subject = with_merge([](const Case& test) {
      return [type = narrow(test.dtype)](const Partial& a, const Partial& b) {
        Partial sum = merge(a, b);
        sum.out = rounded(sum.out, type);
        return sum;
      };
    })}},
  {"partial_output_narrow", {
    .operators = {"M07"}, .stands_for = "ring-flash-attention#42",
    .wrong = "the output of every block is rounded to the dtype before the merge",
    .site = Site::kKernel, .cases = {cases::kCharted}, .names = {.tensors = {"o"}},
    .subject = with_kernel([](Communicator&, const Case& test) {
      return AroundKernel{.after_forward = [=](const KernelCall&, Partial& part) {
        part.out = rounded(part.out, narrow(test.dtype));
      }};
    }),
    .moot_with = kRoundsParts}},
  {"dq_accumulated_narrow", {
    .operators = {"M07"}, .stands_for = "TransformerEngine#821",
    .wrong = "the terms of dQ are rounded to the dtype before they are added",
    .site = Site::kKernel, .cases = {cases::kCharted}, .names = {.tensors = {"dq"}},
    .subject = with_rounded_gradients(&Gradients::dq), .moot_with = kRoundsParts}},
  {"dk_term_narrow", {
    .operators = {"M07"}, .stands_for = "ring-flash-attention#67",
    .wrong = "the terms of dK are rounded to the dtype before they travel",
    .site = Site::kKernel, .cases = {cases::kCharted}, .names = {.tensors = {"dk"}},
    .subject = with_rounded_gradients(&Gradients::dk), .moot_with = kRoundsParts}},
  {"travelling_sum_narrow", {
    .operators = {"M07"}, .stands_for = "TransformerEngine#821",
    .wrong = "dK and dV travel in the dtype, so that their sum is rounded at every hop",
    .site = Site::kCarrier, .cases = {cases::kCharted}, .names = {.tensors = {"dk", "dv"}},
    .subject = with_transfers([](Communicator& comm) {
      const Communicator* here = &comm;
      return [here](Communicator& inner, Posting posting) {
        if (here->ledger().phase() == Phase::kBackward && posting.is("exchange gradients"))
          for (Message& message : posting.sends)
            message.data = rounded(message.data, message.data.scalar_type() == at::kDouble
                                                     ? at::kFloat
                                                     : at::kBFloat16);
        return post(inner, std::move(posting));
      };
    })}},
  {"delta_narrow", {
    .operators = {"M07"}, .stands_for = "TransformerEngine#821",
    .wrong = "D, the row sum of dO O, is rounded to the dtype",
    .site = Site::kKernel, .cases = {cases::kCharted}, .names = {.tensors = {"dq", "dk"}},
    .subject = with_kernel([](Communicator&, const Case& test) {
      return AroundKernel{[=](KernelCall& call) {
        if (call.saved && call.saved->d.defined()) call.saved->d = rounded(call.saved->d, narrow(test.dtype));
      }};
    }),
    .moot_with = cases::kOwnDelta}},
  {"hidden_tf32", {
    .operators = {"M07"}, .stands_for = "hidden TF32",
    .wrong = "float32 operands are rounded to the 11 bits of TF32",
    .site = Site::kKernel, .cases = {cases::kCausal}, .dtypes = k32,
    .names = {.tensors = {"o", "lse"}},
    .subject = with_kernel([](Communicator&, const Case&) {
      return AroundKernel{[](KernelCall& call) {
        call.q.q = rounded(call.q.q, at::kHalf);
        call.kv = own_copy(call.kv);
        call.kv.packed.copy_(rounded(call.kv.packed, at::kHalf));
      }};
    })}},
}};

}  // namespace
}  // namespace ringcheck::parity
