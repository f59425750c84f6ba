// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Partial results are put together wrongly.
#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"
#include "parity/faults/catalogue/cases.h"

namespace ringcheck::parity {
namespace {

// e^LSE exceeds float32 beyond 88, float64 beyond 709. With more slots dK of kLarge would say
// nothing where partial results are rounded to 16 bits.
constexpr const char* kHuge = "ring:p2p/contiguous/causal/P3/b2/hq4/hkv2/s36/d16/dv24/scale:64";
constexpr const char* kLarge =
    "ring:p2p/contiguous/causal/P3/b2/hq4/hkv2/s15/d16/dv24/scale:4.5/seed14";
// Every score is below zero: -32 on average.
constexpr const char* kLow =
    "ring:p2p/contiguous/full/P3/b2/hq4/hkv2/s36/d128/dv128/uniform/scale:-1";
const std::vector<at::ScalarType> kInDouble{at::kDouble};
const std::vector<at::ScalarType> kInFloat{at::kFloat, at::kBFloat16, at::kHalf};

// What a kernel returns for a block, changed.
SharedSubject with_partial(void (*change)(Partial&)) {
  return with_kernel([change](Communicator&, const Case&) {
    return AroundKernel{
        .after_forward = [change](const KernelCall&, Partial& part) { change(part); }};
  });
}

SharedSubject with(Partial (*merge)(const Partial&, const Partial&)) {
  return with_merge([merge](const Case&) { return merge; });
}

Partial weighted(const Partial& a, const Partial& b, const at::Tensor& wa, const at::Tensor& wb,
                 const at::Tensor& lse) {
  const at::Tensor sum = (wa + wb).unsqueeze(-1);
  return {(a.out * wa.unsqueeze(-1) + b.out * wb.unsqueeze(-1)) / sum, lse};
}

// Without the greatest LSE taken out first.
Partial naive(const Partial& a, const Partial& b) {
  const at::Tensor wa = a.lse.exp(), wb = b.lse.exp(), empty = b.lse.isneginf();
  const Partial sum = weighted(a, b, wa, wb, (wa + wb).log());
  return {at::where(empty.unsqueeze(-1), a.out, sum.out), at::where(empty, a.lse, sum.lse)};
}

// lse + log(1 + e^(block - lse)), which overflows where the block is much greater.
Partial one_sided(const Partial& a, const Partial& b) {
  const at::Tensor first = a.lse.isneginf();
  const at::Tensor lse =
      at::where(first, b.lse, a.lse + (1 + (b.lse - a.lse).exp()).log());
  const at::Tensor wa = at::where(first, 0, (a.lse - lse).exp());
  const at::Tensor wb = at::where(b.lse.isneginf(), 0, (b.lse - lse).exp());
  return {a.out * wa.unsqueeze(-1) + b.out * wb.unsqueeze(-1), lse};
}

// As published: no case of its own for a row in which neither side saw a key.
Partial unguarded(const Partial& a, const Partial& b) {
  const at::Tensor top = at::maximum(a.lse, b.lse);
  const at::Tensor wa = (a.lse - top).exp(), wb = (b.lse - top).exp();
  return weighted(a, b, wa, wb, top + (wa + wb).log());
}

// A row is known to be empty by a large negative LSE, as where masked scores are -10000.
Partial low_as_empty(const Partial& a, const Partial& b) {
  return merge(a, {b.out, b.lse.masked_fill(b.lse < -10, -INFINITY)});
}

// The correction is made in a copy: the second half of the rows keeps its LSE.
Partial half_corrected(const Partial& a, const Partial& b) {
  Partial sum = merge(a, b);
  const int64_t half = a.lse.size(2) / 2, rest = a.lse.size(2) - half;
  const at::Tensor kept = at::where(a.lse.isneginf(), sum.lse, a.lse).narrow(2, half, rest);
  sum.lse.narrow(2, half, rest).copy_(kept);
  return sum;
}

Partial one_weight_off(const Partial& a, const Partial& b) {
  return merge(a, {b.out, b.lse + std::log(1.01)});
}

Partial merged_backwards(const Partial& a, const Partial& b) { return merge(b, a); }

// The mean of the blocks that a row saw, whatever their LSE.
Merging running_average(const Case&) {
  return [blocks = at::Tensor()](const Partial& a, const Partial& b) mutable {
    const at::Tensor seen = b.lse.isneginf().logical_not().to(b.lse.scalar_type());
    if (!blocks.defined()) blocks = at::zeros_like(seen);
    const at::Tensor before = blocks.unsqueeze(-1), now = seen.unsqueeze(-1);
    const at::Tensor out = (a.out * before + b.out * now) / (before + now).clamp_min(1);
    blocks = blocks + seen;
    return Partial{out, merge(a, b).lse};
  };
}

// LSE of the block before: what a stream reads that runs ahead of the kernel.
Merging lse_one_block_late(const Case&) {
  return [last = at::Tensor()](const Partial& a, const Partial& b) mutable {
    const at::Tensor read = last.defined() ? last : b.lse;
    last = b.lse;
    return merge(a, {b.out, at::where(b.lse.isneginf() | read.isneginf(), b.lse, read)});
  };
}

// Each block counts a key of logit 0 and value 0, as a sink that is added per split would.
void sink_in_every_block(Partial& part) {
  const at::Tensor sink = at::where(part.lse.isneginf(), part.lse, 0);
  part = merge(part, {at::zeros_like(part.out), sink});
}

const Named kForward{.tensors = {"o", "lse"}};

const FaultGroup group{"merge", {
  {"lse_in_base_2", {
    .operators = {"M01"}, .stands_for = "flashinfer#2113",
    .wrong = "the kernel returns LSE in base 2, the merge assumes base e",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kForward,
    .subject = with_partial([](Partial& part) { part.lse.mul_(std::numbers::log2e); })}},
  {"lse_returned_in_base_2", {
    .operators = {"M01"}, .stands_for = "pytorch#181645",
    .wrong = "O is right, the LSE that is returned is in base 2",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = {.tensors = {"lse"}},
    .subject = with_output([](RankOutput& output, Communicator&, const Case&) {
      output.lse = output.lse * std::numbers::log2e;
    })}},
  {"lse_ignored", {
    .operators = {"M02"}, .stands_for = "USP kernels/attention.py",
    .wrong = "the merge is a running average of the blocks",
    .site = Site::kMerge, .cases = {cases::kFull, cases::kCausal}, .names = {.tensors = {"o"}},
    .subject = with_merge(running_average)}},
  {"lse_zeros", {
    .operators = {"M03"}, .stands_for = "USP kernels/attention.py",
    .wrong = "the kernel returns an LSE of zeros",
    .site = Site::kKernel, .cases = {cases::kFull}, .names = kForward,
    .subject = with_partial([](Partial& part) { part.lse.zero_(); })}},
  {"lse_in_16_bits", {
    .operators = {"M04"}, .stands_for = "USP kernels/attention.py",
    .wrong = "the LSE of every block is rounded to bf16",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kForward,
    .subject = with_partial([](Partial& part) {
      part.lse = part.lse.to(at::kBFloat16).to(part.lse.scalar_type());
    })}},
  {"merge_overflows", {
    .operators = {"M05"}, .stands_for = "TransformerEngine#716",
    .wrong = "the merge takes e^LSE without a common maximum",
    .site = Site::kMerge, .cases = {kLarge}, .dtypes = kInFloat, .names = kForward,
    .subject = with(naive)}},
  {"merge_overflows_in_float64", {
    .operators = {"M05"}, .stands_for = "TransformerEngine#716",
    .wrong = "the merge takes e^LSE without a common maximum",
    .site = Site::kMerge, .cases = {kHuge}, .dtypes = kInDouble, .names = kForward,
    .subject = with(naive)}},
  {"merge_overflows_one_sided", {
    .operators = {"M05"}, .stands_for = "EasyContext#14",
    .wrong = "lse + log(1 + e^(block - lse)) overflows when a later block is much greater",
    .site = Site::kMerge, .cases = {kLarge}, .dtypes = kInFloat, .names = kForward,
    .subject = with(one_sided)}},
  {"merge_overflows_one_sided_in_float64", {
    .operators = {"M05"}, .stands_for = "EasyContext#14",
    .wrong = "lse + log(1 + e^(block - lse)) overflows when a later block is much greater",
    .site = Site::kMerge, .cases = {kHuge}, .dtypes = kInDouble, .names = kForward,
    .subject = with(one_sided)}},
  {"lse_corrected_in_first_half", {
    .operators = {"M06"}, .stands_for = "TransformerEngine#716",
    .wrong = "the correction of LSE is lost for the second half of the rows",
    .site = Site::kMerge, .cases = {cases::kCausal}, .names = kForward,
    .subject = with(half_corrected)}},
  {"merge_weight_off", {
    .operators = {"M02"}, .stands_for = "one merge weight",
    .wrong = "the later block weighs 1 % too much in every merge",
    .site = Site::kMerge, .cases = {cases::kCausal}, .names = kForward,
    .subject = with(one_weight_off)}},
  {"empty_row_becomes_nan", {
    .operators = {"M55"}, .stands_for = "TransformerEngine, PyTorch merges",
    .wrong = "a row that neither side saw becomes NaN",
    .site = Site::kMerge, .cases = {cases::kRagged}, .names = {.words = {"pad slots"}},
    .subject = with(unguarded)}},
  {"empty_block_counts", {
    .operators = {"M55"}, .stands_for = "ATen flash on CPU",
    .wrong = "a row that sees no key of a block has LSE 0 there in place of -inf",
    .site = Site::kKernel, .cases = {cases::kContiguous}, .names = kForward,
    .subject = with_partial(
        [](Partial& part) { part.lse.masked_fill_(part.lse.isneginf(), 0); })}},
  {"sink_in_every_block", {
    .operators = {"M56"}, .stands_for = "rocm-libraries#12229",
    .wrong = "a sink of logit 0 is counted once a block; here there is none at all",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kForward,
    .subject = with_partial(sink_in_every_block)}},
  {"low_lse_taken_as_empty", {
    .operators = {"M55"}, .stands_for = "merges that know an empty row by its size",
    .wrong = "a row with an LSE below -10 counts as one that saw no key",
    .site = Site::kMerge, .cases = {kLow}, .names = kForward,
    .subject = with(low_as_empty)}},
  {"lse_read_too_early", {
    .operators = {"M44"}, .stands_for = "TransformerEngine#1624",
    .wrong = "the merge reads the LSE of the block before: what a stream sees that does not "
              "wait for the kernel",
    .site = Site::kMerge, .cases = {cases::kFull}, .names = kForward,
    .subject = with_merge(lse_one_block_late)}},
  {"merge_arguments_swapped", {
    .operators = {"M02"}, .stands_for = "merge_swap",
    .wrong = "merge(b, a) in place of merge(a, b)",
    .site = Site::kMerge, .cases = {cases::kCausal}, .subject = with(merged_backwards),
    .equivalent = "merge is commutative bit for bit (partial_laws, MergeIsCommutative), and no "
                  "counter sees the order"}},
}};

}  // namespace
}  // namespace ringcheck::parity
