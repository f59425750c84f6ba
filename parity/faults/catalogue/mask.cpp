// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The wrong pairs attend.
#include <ATen/ATen.h>

#include <algorithm>

#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"
#include "parity/faults/catalogue/cases.h"

namespace ringcheck::parity {
namespace {

using MaskKind = decltype(Mask::kind);

SharedSubject with_mask(std::function<MaskKind(const KernelCall&)> kind) {
  return with_calls([kind](KernelCall& call) { call.scores.mask.kind = kind(call); });
}

Positions shifted(const Positions& positions, int64_t by) {
  std::vector<Span> spans = positions.spans();
  for (Span& span : spans) span.begin += by;
  return spans;
}

Positions local(const Positions& positions) { return {{0, count(positions)}}; }

// Positions in a type that wraps at 32, as int16 does at 32768.
Positions wrapped(const Positions& positions) {
  std::vector<Span> result;
  for (const int64_t position : flatten(positions)) result.push_back({position % 32, 1});
  return result;
}

Positions ascending(const Positions& positions) {
  std::vector<int64_t> all = flatten(positions);
  std::ranges::sort(all);
  std::vector<Span> spans;
  for (const int64_t position : all) spans.push_back({position, 1});
  return spans;
}

const Named kForward{.tensors = {"o", "lse"}};

const FaultGroup group{"mask", {
  {"causal_sees_next_key", {
    .operators = {"M08"}, .stands_for = "tokenspeed#364",
    .wrong = "every query also sees the key after it",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kForward,
    .subject = with_calls([](KernelCall& call) {
      call.q.positions = shifted(call.q.positions, 1);
      ++call.scores.mask.length;
    })}},
  {"causal_misses_itself", {
    .operators = {"M08"}, .stands_for = "tokenspeed#364",
    .wrong = "k < q in place of k <= q: no query sees its own key",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kForward,
    .subject = with_calls(
        [](KernelCall& call) { call.q.positions = shifted(call.q.positions, -1); })}},
  {"positions_wrap", {
    .operators = {"M08"}, .stands_for = "tpu-inference#2756",
    .wrong = "positions in a narrow integer: those past its end start again (32 here stands "
              "for 32768)",
    .site = Site::kKernel, .cases = {cases::kContiguous}, .names = kForward,
    .subject = with_calls(
        [](KernelCall& call) { call.kv.positions = wrapped(call.kv.positions); })}},
  {"keys_taken_to_ascend", {
    .operators = {"M08"}, .stands_for = "a binary search over the positions of a block",
    .wrong = "the keys of a block are taken for those of its positions in ascending order",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kForward, .proves = "layouts",
    .subject = with_calls(
        [](KernelCall& call) { call.kv.positions = ascending(call.kv.positions); }),
    .on_cpus = true}},
  {"causal_by_local_position", {
    .operators = {"M09"}, .stands_for = "tokenspeed#364",
    .wrong = "the mask compares indices within the shards, not positions",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kForward,
    .subject = with_calls([](KernelCall& call) {
      call.q.positions = local(call.q.positions);
      call.kv.positions = local(call.kv.positions);
    })}},
  {"other_blocks_unmasked", {
    .operators = {"M09"}, .stands_for = "TensorRT-LLM#13821",
    .wrong = "blocks of other ranks enter with a full mask",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kForward,
    .subject = with_mask([](const KernelCall& call) {
      return call.q.positions == call.kv.positions ? call.scores.mask.kind : MaskKind(Full{});
    })}},
  {"window_not_shifted", {
    .operators = {"M10"}, .stands_for = "lm-engine#447",
    .wrong = "the window grows by a token at every step of the ring",
    .site = Site::kKernel, .cases = {cases::kWindow}, .names = kForward,
    .subject = with_masks<Window>([](const KernelCall& call, Window& window) {
      window.width += call.step;
    })}},
  {"window_ignored", {
    .operators = {"M11"}, .stands_for = "prime-rl#2828",
    .wrong = "the window is dropped: plainly causal",
    .site = Site::kKernel, .cases = {cases::kWindow}, .names = kForward,
    .subject = with_mask([](const KernelCall&) { return Causal{}; })}},
  {"document_boundary_ignored", {
    .operators = {"M12"}, .stands_for = "axolotl#3608",
    .wrong = "packed documents attend to each other",
    .site = Site::kKernel, .cases = {cases::kDocuments}, .names = kForward,
    .subject = with_mask([](const KernelCall&) { return Causal{}; })}},
  {"document_begins_one_late", {
    .operators = {"M12"}, .stands_for = "trl#6843",
    .wrong = "the boundary between two documents lies one slot too far",
    .site = Site::kKernel, .cases = {cases::kDocuments}, .names = kForward,
    .subject = with_masks<DocumentCausal>([](const KernelCall&, DocumentCausal& mask) {
      if (mask.documents.size() < 2 || mask.documents[1].length == 0) return;
      Document &first = mask.documents[0], &second = mask.documents[1];
      ++first.length, ++first.slots;
      --second.length, --second.slots;
    })}},
  {"mask_replaced_by_causal", {
    .operators = {"M11", "M12"}, .stands_for = "accelerate#4177",
    .wrong = "any mask is silently taken as causal",
    .site = Site::kKernel, .cases = {cases::kFull}, .names = kForward,
    .subject = with_mask([](const KernelCall&) { return Causal{}; })}},
  {"prefix_forgotten_on_a_rank", {
    .operators = {"M12"}, .stands_for = "TensorRT-LLM#13821",
    .wrong = "rank 0 does not know of the prefix",
    .site = Site::kKernel, .cases = {cases::kPrefix}, .names = {.tensors = {"o", "lse"}, .rank = 0},
    .subject = with_kernel([](Communicator& comm, const Case&) {
      return AroundKernel{[first = comm.rank() == 0](KernelCall& call) {
        if (first) call.scores.mask.kind = Causal{};
      }};
    })}},
}};

}  // namespace
}  // namespace ringcheck::parity
