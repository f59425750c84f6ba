// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Within the bounds of the arithmetic, but what must not matter changes bits.
#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "parity/faults/catalogue/cases.h"
#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"

namespace ringcheck::parity {
namespace {

const std::vector<at::ScalarType> kUnrounded{at::kDouble, at::kFloat};

// The stabiliser of a row is the largest of all its scores, hidden keys among them.
void mask_after_maximum(const KernelCall& call, Partial& part) {
  const auto wide = part.lse.scalar_type();
  const at::Tensor k =
      call.kv.k().to(wide).repeat_interleave(call.q.q.size(1) / call.kv.shape.heads, 1);
  const at::Tensor top = (call.q.q.to(wide).matmul(k.transpose(2, 3)) * call.scores.scale).amax(3);
  part.lse = (part.lse - top).exp().log() + top;
}

// The gradients of a block are formed in units of the largest dO.
void in_units_of_upstream(const KernelCall& call, Gradients& term) {
  const at::Tensor unit = call.saved->d_o.abs().max().to(term.dv.scalar_type()).clamp_min(1);
  for (at::Tensor* x : {&term.dq, &term.dk, &term.dv}) *x = *x / unit * unit;
}

// By the position within the shard, then by where the shard begins.
at::Tensor turned_twice(const at::Tensor& x, const Rope& rope, const Mask& mask,
                        const Positions& positions) {
  const int64_t first = positions.at(0).begin;
  std::vector<Span> within, begin;
  for (const int64_t position : flatten(positions)) {
    within.push_back({position - first, 1});
    begin.push_back({first, 1});
  }
  return rotate(rotate(x, rope, mask, within), rope, mask, begin);
}

const FaultGroup group{"bits", {
  {"mask_after_maximum", {
    .operators = {"M08"}, .stands_for = "kernels that mask after the maximum of a tile",
    .wrong = "hidden keys move the stabiliser of a row, from which LSE inherits the rounding",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = {.tensors = {"o", "lse"}},
    .proves = "causality",
    .subject = with_kernel([](Communicator&, const Case&) {
      return AroundKernel{.after_forward = mask_after_maximum};
    })}},
  {"gradients_in_units_of_upstream", {
    .stands_for = "a scale a tensor, as of 8-bit gradients",
    .wrong = "the largest dO of a shard enters the rounding of every gradient",
    .site = Site::kKernel, .cases = {cases::kCausal}, .dtypes = kUnrounded,
    .names = {.tensors = {"dk", "dv"}}, .proves = "gradient-causality",
    .subject = with_kernel([](Communicator&, const Case&) {
      return AroundKernel{.after_backward = in_units_of_upstream};
    })}},
  {"gathered_in_base_2", {
    .operators = {"M01"}, .stands_for = "flashinfer#2113, converted back",
    .wrong = "LSE of gathered blocks goes through base 2, so rotations differ in bits",
    .site = Site::kKernel, .cases = {cases::kCausal, cases::kGathered}, .names = {.tensors = {"o", "lse"}},
    .proves = "rotations",
    .subject = with_kernel([](Communicator&, const Case& test) {
      const bool gathered = test.arguments.starts_with(":allgather");
      return AroundKernel{.after_forward = [gathered](const KernelCall&, Partial& part) {
        if (gathered) part.lse = part.lse * std::numbers::log2e / std::numbers::log2e;
      }};
    }),
    .moot_with = "a kernel whose LSE is a float32 product with ln 2"}},
  {"turned_twice", {
    .operators = {"M28"}, .stands_for = "an offset of the rank applied as a second rotation",
    .wrong = "a rank rotates by the index in its shard, and again by where the shard begins",
    .site = Site::kRope, .cases = {cases::kRope}, .dtypes = kUnrounded,
    .names = {.tensors = {"q", "k"}}, .proves = "rope-shards",
    .subject = with_parts([](Parts& parts, Communicator&, const Case&) {
      parts.rotate = turned_twice;
    })}},
  {"device_rounds_otherwise", {
    .stands_for = "a GPU of another stepping, or one that is failing",
    .wrong = "every second GPU returns the next larger LSE",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = {.tensors = {"lse"}},
    .proves = "device-order",
    .subject = with_output([](RankOutput& output, Communicator& comm, const Case&) {
      if (comm.device().index() % 2 == 1)
        output.lse = at::nextafter(output.lse, at::full_like(output.lse, INFINITY));
    }),
    .several_gpus = true}},
}};

}  // namespace
}  // namespace ringcheck::parity
