// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// A kernel is launched over fewer blocks than there are.
#include <ATen/ATen.h>

#include <cmath>

#include "parity/faults/catalogue/cases.h"
#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"

namespace ringcheck::parity {
namespace {

AroundKernel one_head_short(Communicator&, const Case&) {
  AroundKernel around;
  around.after_forward = [](const KernelCall&, Partial& part) {
    part.out.select(1, -1).zero_();
    part.lse.select(1, -1).fill_(-INFINITY);
  };
  return around;
}

const FaultGroup group{"grid", {
  {"last_head_unwritten", {
    .stands_for = "a grid that is one block short",
    .wrong = "nobody computes the last query head: O = 0 and LSE = -inf stay as they were made",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = {.tensors = {"o", "lse"}},
    .subject = with_kernel(one_head_short)}},
}};

}  // namespace
}  // namespace ringcheck::parity
