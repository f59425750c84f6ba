// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Right for the values of the case, wrong for others: only a further run brings those.
#include <ATen/ATen.h>

#include <cmath>

#include "cp/layout/shard.h"
#include "parity/faults/catalogue/cases.h"
#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"

namespace ringcheck::parity {
namespace {

constexpr const char* kPositive = "ring:p2p/contiguous/full/P4/b2/hq6/hkv3/s32/d16/dv24/scale:2/uniform";
constexpr const char* kOnes = "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s36/d16/dv24/ones";
constexpr const char* kCounted = "ring:p2p/contiguous/full/P4/b2/hq6/hkv3/s32/d16/dv24/census";
// Means of 36 keys stay below 0.85.
constexpr const char* kNarrow = "ring:p2p/contiguous/full/P3/b2/hq4/hkv2/s108/d16/dv24/normal";
// The largest key of all is in the first head of the first entry.
constexpr const char* kFirstIsLargest =
    "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s36/d16/dv24/seed35";
// Those in which a power of two is exact.
const std::vector<at::ScalarType> kWide{at::kDouble, at::kFloat, at::kBFloat16};

// The inputs of every rank, changed.
SharedSubject with_local(void (*change)(Problem&)) {
  return with_input([change](Problem& local, Communicator&, const Case&) { change(local); });
}

// The keys that the query heads read, [batch, q_heads, ...], from x [batch, kv_heads, ...].
at::Tensor of_query_heads(const KernelCall& call, const at::Tensor& x) {
  return x.repeat_interleave(call.q.q.size(1) / call.kv.shape.heads, 1);
}

// tau q k for one key of each head, [batch, kv_heads, dim]: [batch, q_heads, queries].
at::Tensor scores_of(const KernelCall& call, const at::Tensor& key) {
  const auto wide = accumulation_type(call.q.q.scalar_type());
  const at::Tensor k = of_query_heads(call, key.to(wide)).unsqueeze(3);
  return call.q.q.to(wide).matmul(k).squeeze(3) * call.scores.scale;
}

// A row skips a block whose first key stands for all of it, and is far below the others.
void skip_by_first_key(const KernelCall& call, Partial& part) {
  const at::Tensor first = scores_of(call, call.kv.k().select(2, 0));
  const at::Tensor skipped = first < part.lse - 64;
  part.lse.masked_fill_(skipped, -INFINITY);
  part.out.masked_fill_(skipped.unsqueeze(3), 0);
}

// Where a channel of the keys has a mean worth it, K is taken without; the scores lack q times it.
void smooth_keys(const KernelCall& call, Partial& part) {
  const at::Tensor mean = call.kv.k().to(part.lse.scalar_type()).mean(2);
  part.lse.sub_(scores_of(call, mean.masked_fill(mean.abs() < 0.85, 0)));
}

// One scale of 8-bit numbers for all heads, from the first one: larger keys are clamped.
void range_of_first_head(Problem& local, Communicator& comm, const Case&) {
  const double own = local.k[0][0].abs().max().item<double>();
  const double largest = comm.agree_max(own);
  local.k.clamp_(-largest, largest);
}

// The mean of V is taken over all slots that hold a number.
void mean_with_pads(Problem& local, Communicator& comm, const Case& test) {
  const Mask mask = mask_of(test);
  int64_t slot = 0;
  for (const int64_t position : flatten(layout_of(test).queries.at(comm.rank()))) {
    if (!is_token(mask, position))
      local.v.select(2, 0).add_(local.v.select(2, slot).nan_to_num(0), 0x1p-6);
    ++slot;
  }
}

const Named kForward{.tensors = {"o", "lse"}};
const Named kOutput{.tensors = {"o"}};

const FaultGroup group{"values", {
  {"unsigned_values", {
    .stands_for = "8-bit caches of K and V without a zero point",
    .wrong = "V goes through an unsigned type: what is below zero becomes zero",
    .site = Site::kInput, .cases = {kPositive}, .names = kOutput, .proves = "value-sum",
    .subject = with_local([](Problem& local) { local.v.clamp_min_(0); })}},
  {"unsigned_keys", {
    .stands_for = "8-bit caches of K and V without a zero point",
    .wrong = "q and k lose their sign",
    .site = Site::kInput, .cases = {kPositive}, .names = {.tensors = {"dq", "dk"}},
    .proves = "channel-order",
    .subject = with_local([](Problem& local) { local.q.abs_(), local.k.abs_(); })}},
  {"integer_values", {
    .stands_for = "a test whose V is all ones",
    .wrong = "V is rounded to whole numbers",
    .site = Site::kInput, .cases = {kOnes}, .names = {.words = {"another V"}},
    .proves = "adjoint",
    .subject = with_local([](Problem& local) { local.v.round_(); })}},
  {"values_clamped", {
    .stands_for = "saturating casts",
    .wrong = "V is clamped to [-8, 8]",
    .site = Site::kInput, .cases = {cases::kCausal}, .dtypes = kWide, .names = kOutput,
    .proves = "value-scale",
    .subject = with_local([](Problem& local) { local.v.clamp_(-8, 8); })}},
  {"queries_clamped", {
    .stands_for = "saturating casts",
    .wrong = "q is clamped to [-16, 16]",
    .site = Site::kInput, .cases = {cases::kCausal}, .dtypes = kWide, .names = kForward,
    .proves = "score-scale",
    .subject = with_local([](Problem& local) { local.q.clamp_(-16, 16); })}},
  {"upstream_clipped", {
    .operators = {"M38"}, .stands_for = "overflow of fp16 under a large scale of the loss",
    .wrong = "dO saturates at 8",
    .site = Site::kInput, .cases = {cases::kCausal}, .dtypes = kWide,
    .names = {.tensors = {"dq", "dk", "dv"}}, .proves = "gradient-scale",
    .subject = with_local([](Problem& local) { local.d_o.clamp_(-8, 8); })}},
  {"lse_clamped", {
    .operators = {"M03"}, .stands_for = "a guard against the overflow of exp in float32",
    .wrong = "the LSE of a block is at most 88",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kForward, .proves = "extremes",
    .subject = with_kernel([](Communicator&, const Case&) {
      return AroundKernel{.after_forward = [](const KernelCall&, Partial& part) {
        part.lse.clamp_max_(88);
      }};
    })}},
  {"range_of_first_head", {
    .stands_for = "8-bit K with one scale a tensor, taken before all heads are known",
    .wrong = "keys are clamped to the range of the first head of the first batch entry",
    .site = Site::kInput, .cases = {kFirstIsLargest}, .names = kForward, .proves = "head-order",
    .subject = with_input(range_of_first_head)}},
  {"keys_smoothed_without_lse", {
    .stands_for = "SageAttention smooth_k: the LSE that is returned must be corrected",
    .wrong = "keys with a large mean are taken without it, and LSE is not corrected",
    .site = Site::kKernel, .cases = {kNarrow}, .names = kForward, .proves = "key-shift",
    .subject = with_kernel([](Communicator&, const Case&) {
      return AroundKernel{.after_forward = smooth_keys};
    })}},
  {"block_skipped_by_its_first_key", {
    .stands_for = "block-sparse attention: a block judged by one of its keys",
    .wrong = "a query skips a block whose first key has a score 64 below the LSE of the block",
    .site = Site::kKernel, .cases = {cases::kRaggedFull}, .names = kForward,
    .proves = "splitting",
    .subject = with_kernel([](Communicator&, const Case&) {
      return AroundKernel{.after_forward = skip_by_first_key};
    })}},
  {"pads_read_when_finite", {
    .operators = {"M31"}, .stands_for = "a mean that skips NaN, not pads",
    .wrong = "what pad slots of V hold is added to a token where it is a number",
    .site = Site::kInput, .cases = {cases::kRagged}, .names = kOutput, .proves = "pads",
    .subject = with_input(mean_with_pads)}},
  {"passed_in_16_bits", {
    .stands_for = "a test whose inputs have few bits",
    .wrong = "float64 q and v go through bf16",
    .site = Site::kInput, .cases = {kCounted}, .dtypes = {at::kDouble},
    .names = {.words = {"derivative"}}, .proves = "difference-quotient",
    .subject = with_local([](Problem& local) {
      for (at::Tensor* x : {&local.q, &local.v}) *x = x->to(at::kBFloat16).to(x->scalar_type());
    })}},
}};

}  // namespace
}  // namespace ringcheck::parity
