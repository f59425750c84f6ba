// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Slots without a token count, or tokens do not.
#include <ATen/ATen.h>

#include <cmath>

#include "cp/layout/shard.h"
#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"
#include "parity/faults/catalogue/cases.h"

namespace ringcheck::parity {
namespace {

at::Tensor index(const std::vector<int64_t>& slots, const at::Tensor& like) {
  return at::tensor(slots, at::kLong).to(like.device());
}

// The keys of pad slots are attended, with this in their K and V; pad queries stay empty.
SharedSubject pad_keys_attended(double content) {
  return with_kernel([content](Communicator&, const Case& test) {
    const Mask right = mask_of(test);
    return AroundKernel{
        [=](KernelCall& call) {
          const auto pads = pads_of(right, call.kv.positions);
          call.kv = own_copy(call.kv);
          for (const at::Tensor& x : {call.kv.k(), call.kv.v()})
            x.index_fill_(2, index(pads, x), content);
          call.scores.mask.length = count(call.kv.positions) * test.world;
        },
        [=](const KernelCall& call, Partial& part) {
          const at::Tensor pads = index(pads_of(right, call.q.positions), part.out);
          part.out.index_fill_(2, pads, 0);
          part.lse.index_fill_(2, pads, -INFINITY);
        }};
  });
}

// What all documents hold, pads included, counts as tokens.
DocumentCausal without_pads(DocumentCausal mask) {
  for (Document& document : mask.documents) document.length = document.slots;
  return mask;
}

// Of the last run of a shard, is every slot a pad?
bool ends_in_padding(const Mask& mask, const Positions& positions) {
  const Positions last{positions.back()};
  return static_cast<int64_t>(pads_of(mask, last).size()) == count(last);
}

const Named kForward{.tensors = {"o", "lse"}};

const FaultGroup group{"padding", {
  {"pad_key_of_zeros_attended", {
    .operators = {"M32"}, .stands_for = "diffusers#13545",
    .wrong = "a pad key of zeros is attended, with a logit of 0",
    .site = Site::kKernel, .cases = {cases::kRaggedFull}, .names = kForward,
    .subject = pad_keys_attended(0)}},
  {"pad_key_of_live_data_attended", {
    .operators = {"M32"}, .stands_for = "vllm#48003",
    .wrong = "what lies in pad slots is attended: foreign data",
    .site = Site::kKernel, .cases = {cases::kRaggedFull}, .names = kForward,
    .subject = pad_keys_attended(3)}},
  {"pad_key_of_nan_attended", {
    .operators = {"M32"}, .stands_for = "diffusers#13545",
    .wrong = "a pad key that holds NaN is attended",
    .site = Site::kKernel, .cases = {cases::kRaggedFull}, .names = kForward,
    .subject = pad_keys_attended(NAN)}},
  {"document_pads_are_tokens", {
    .operators = {"M32"}, .stands_for = "TransformerEngine#1012",
    .wrong = "pad slots of packed documents attend and are attended",
    .site = Site::kKernel, .cases = {cases::kPaddedDocuments}, .names = {.words = {"pad slots"}},
    .subject = with_masks<DocumentCausal>(
        [](const KernelCall&, DocumentCausal& mask) { mask = without_pads(mask); })}},
  {"pad_rows_written", {
    .operators = {"M32"}, .stands_for = "TransformerEngine#1012",
    .wrong = "O and LSE of pad slots are not left empty",
    .site = Site::kKernel, .cases = {cases::kRagged}, .names = {.words = {"pad slots"}},
    .subject = with_kernel([](Communicator&, const Case&) {
      return AroundKernel{.after_forward = [](const KernelCall& call, Partial& part) {
        const at::Tensor pads = index(pads_of(call.scores.mask, call.q.positions), part.out);
        part.out.index_fill_(2, pads, 0.5);
        part.lse.index_fill_(2, pads, 0);
      }};
    })}},
  {"length_rounded_down", {
    .operators = {"M33"}, .stands_for = "TransformerEngine#1929",
    .wrong = "the length is rounded down to a multiple of P: the last tokens are dropped",
    .site = Site::kKernel,
    .cases = {"ring:p2p/headtail/causal/P2/s7/d8", "ring:p2p/headtail/causal/P4/s698/d8"},
    .names = kForward,
    .subject = with_kernel([](Communicator&, const Case& test) {
      return AroundKernel{
          [=](KernelCall& call) { call.scores.mask.length = test.seq / test.world * test.world; }};
    })}},
  {"chunk_of_pads_breaks_backward", {
    .operators = {"M34"}, .stands_for = "TransformerEngine#2186",
    .wrong = "where the second chunk of a rank is all padding, the backward pass reads an LSE "
              "of 0",
    .site = Site::kKernel, .cases = {"ring:p2p/headtail/causal/P4/b2/hq4/hkv2/s9/d16/dv24"},
    .names = {.tensors = {"dq", "dk", "dv"}},
    .subject = with_kernel([](Communicator&, const Case&) {
      return AroundKernel{[](KernelCall& call) {
        if (call.saved && ends_in_padding(call.scores.mask, call.q.positions))
          call.saved->lse = at::where(call.saved->lse.isneginf(), call.saved->lse, 0);
      }};
    })}},
  {"global_lengths_used_locally", {
    .operators = {"M35"}, .stands_for = "prime-rl#2392",
    .wrong = "document lengths of the whole sequence are applied to the slots of a shard",
    .site = Site::kKernel, .cases = {cases::kDocuments}, .names = kForward,
    .subject = with_kernel([](Communicator&, const Case&) {
      return AroundKernel{[](KernelCall& call) {
        call.q.positions = {{0, count(call.q.positions)}};
        call.kv.positions = {{0, count(call.kv.positions)}};
      }};
    })}},
}};

}  // namespace
}  // namespace ringcheck::parity
