// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// A factor is missing, doubled, or counted per shard: of the softmax, or of the loss, whose
// gradient by O is the dO of a case.
#include <ATen/ATen.h>

#include <cmath>

#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"
#include "parity/faults/catalogue/cases.h"

namespace ringcheck::parity {
namespace {

constexpr const char* kScaled = "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s36/d16/dv24/scale:0.5";

SharedSubject with_scale(std::function<double(const Case&)> scale) {
  return with_parts([scale](Parts& parts, Communicator&, const Case& test) {
    parts.plan.scores.scale = scale(test);
  });
}

SharedSubject gradients_times(std::function<double(const Case&)> factor) {
  return with_output([factor](RankOutput& output, Communicator&, const Case& test) {
    for (at::Tensor* x : {&output.dq, &output.dk, &output.dv}) *x = *x * factor(test);
  });
}

int64_t tokens(const Mask& mask, const Positions& positions) {
  int64_t number = 0;
  for (const int64_t position : flatten(positions)) number += is_token(mask, position);
  return number;
}

// The loss is a mean over the tokens of a shard, not over those of the sequence.
void mean_over_the_shard(Problem& local, Communicator& comm, const Case& test) {
  const Mask mask = mask_of(test);
  const auto own = static_cast<double>(tokens(mask, layout_of(test).queries.at(comm.rank())));
  const auto all = static_cast<double>(tokens(mask, {{0, test.seq}}));
  if (own > 0) local.d_o = local.d_o * (all / (comm.size() * own));
}

// Labels are shifted within each run of the shard: its last token has none.
void shifted_in_the_shard(Problem& local, Communicator& comm, const Case& test) {
  const std::vector<Positions> layout = layout_of(test).queries;
  int64_t end = 0;
  for (const auto& run : layout.at(comm.rank())) {
    end += run.count;
    local.d_o.select(2, end - 1).zero_();
  }
}

const Named kGradients{.tensors = {"dq", "dk", "dv"}};
const Named kForward{.tensors = {"o", "lse"}};

const FaultGroup group{"scaling", {
  {"default_scale_always", {
    .operators = {"M52"}, .stands_for = "prime-rl#3007",
    .wrong = "the kernel hard-codes the scale 1/sqrt(d)",
    .site = Site::kKernel, .cases = {kScaled}, .names = kForward,
    .subject = with_scale(
        [](const Case& test) { return 1 / std::sqrt(static_cast<double>(test.dim)); })}},
  {"scale_applied_twice", {
    .operators = {"M53"}, .stands_for = "a scale of a kernel that its caller applies as well",
    .wrong = "the scale is applied to q and again to the scores",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kForward,
    .subject = with_scale([](const Case& test) { return scale_of(test) * scale_of(test); })}},
  {"scale_by_all_heads", {
    .operators = {"M54"}, .stands_for = "DeepSpeed FPDT",
    .wrong = "the scale is 1/sqrt(heads d), the width of the model",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kForward,
    .subject = with_scale([](const Case& test) {
      return 1 / std::sqrt(static_cast<double>(test.q_heads * test.dim));
    })}},
  {"gradient_times_world", {
    .operators = {"M36"}, .stands_for = "Megatron-LM#673",
    .wrong = "the loss is multiplied by P though nobody divides by it: dO, and all gradients",
    .site = Site::kInput, .cases = {cases::kCausal}, .names = kGradients,
    .subject = gradients_times([](const Case& test) { return test.world; })}},
  {"gradient_over_world", {
    .operators = {"M37"}, .stands_for = "Megatron-LM#3959",
    .wrong = "gradients are averaged over the ranks that share a sequence",
    .site = Site::kInput, .cases = {cases::kCausal}, .names = kGradients,
    .subject = gradients_times([](const Case& test) { return 1.0 / test.world; })}},
  {"mean_over_the_shard", {
    .operators = {"M38"}, .stands_for = "Megatron-LM#7513",
    .wrong = "the loss is a mean over the tokens of each shard: planted on dO, where shards "
              "hold different numbers of tokens",
    .site = Site::kInput,
    .cases = {"ring:p2p/contiguous/causal/P3/b2/hq4/hkv2/s31/d16/dv24", cases::kPaddedDocuments},
    .names = kGradients,
    .subject = with_input(mean_over_the_shard)}},
  {"labels_shifted_after_sharding", {
    .operators = {"M40"}, .stands_for = "transformers#36607, Automodel#3544",
    .wrong = "the last token of every run of a shard has no label: its dO is zero",
    .site = Site::kInput, .cases = {cases::kCausal}, .names = kGradients,
    .subject = with_input(shifted_in_the_shard)}},
  {"one_label_lost", {
    .operators = {"M40"}, .stands_for = "Automodel#3544",
    .wrong = "one label of one rank is lost, which moves the loss by a percent",
    .site = Site::kInput, .cases = {cases::kCausal},
    .names = {.tensors = {"dq", "dk", "dv"}, .rank = 1},
    .subject = with_input([](Problem& local, Communicator& comm, const Case&) {
      if (comm.rank() == 1) local.d_o.select(2, 3).zero_();
    })}},
}};

}  // namespace
}  // namespace ringcheck::parity
