// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The answer is made to look better than it is.
#include <ATen/ATen.h>

#include "parity/faults/catalogue/cases.h"
#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"

namespace ringcheck::parity {
namespace {

const FaultGroup group{"answers", {
  {"nan_made_zero", {
    .stands_for = "nan_to_num on outputs, which hides what overflowed",
    .wrong = "every NaN of O, dQ, dK and dV is returned as 0",
    .site = Site::kStrategy, .cases = {cases::kCausal}, .names = {.tensors = {"o"}},
    .proves = "visible-nan",
    .subject = with_output([](RankOutput& output, Communicator&, const Case&) {
      for (at::Tensor* x : {&output.o, &output.dq, &output.dk, &output.dv}) x->nan_to_num_(0);
    })}},
}};

}  // namespace
}  // namespace ringcheck::parity
