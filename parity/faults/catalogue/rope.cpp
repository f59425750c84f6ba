// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// q and k, or their gradients, are turned by the wrong angle.
#include <ATen/ATen.h>

#include "cp/layout/balancer.h"
#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"
#include "parity/faults/catalogue/cases.h"

namespace ringcheck::parity {
namespace {

// Both turns, there and back, are told something else.
SharedSubject told(std::function<void(Rope&, Mask&, Positions&, const Communicator&)> change) {
  return with_parts([change](Parts& parts, Communicator& comm, const Case&) {
    const auto with = [&](Rotate turn) -> Rotate {
      return [=, &comm](const at::Tensor& x, const Rope& rope, const Mask& mask,
                        const Positions& positions) {
        Rope other_rope = rope;
        Mask other_mask = mask;
        Positions other_positions = positions;
        change(other_rope, other_mask, other_positions, comm);
        return turn(x, other_rope, other_mask, other_positions);
      };
    };
    parts.rotate = with(parts.rotate);
    parts.rotate_back = with(parts.rotate_back);
  });
}

SharedSubject with_positions(std::function<int64_t(int64_t)> change) {
  return told([change](Rope&, Mask&, Positions& positions, const Communicator&) {
    std::vector<Span> changed;
    for (const int64_t position : flatten(positions)) changed.push_back({change(position), 1});
    positions = changed;
  });
}

SharedSubject with_turn_back(Rotate turn) {
  return with_parts(
      [turn](Parts& parts, Communicator&, const Case&) { parts.rotate_back = turn; });
}

at::Tensor not_turned(const at::Tensor& x, const Rope&, const Mask&, const Positions&) {
  return x.to(accumulation_type(x.scalar_type()));
}

// Queries and keys that are cut alike hide it.
RankOutput turned_back_by_queries(Communicator& comm, const Case& test, const RankInput& input) {
  Parts parts = options_of(test);
  if (input.layout) {
    const Positions queries = input.layout->queries.at(comm.rank());
    parts.rotate_back = [queries, turn = parts.rotate_back](
                            const at::Tensor& x, const Rope& rope, const Mask& mask,
                            const Positions&) { return turn(x, rope, mask, queries); };
  }
  return context_parallel_with(parts, comm, test, input);
}

const Named kRotated{.tensors = {"q", "k"}};
const Named kGradients{.tensors = {"dq", "dk"}};

const FaultGroup group{"rope", {
  {"rope_of_contiguous_shards", {
    .operators = {"M28"}, .stands_for = "Megatron-LM#208",
    .wrong = "head and tail shards are rotated as if they were plain pieces",
    .site = Site::kRope, .cases = {cases::kRope}, .names = kRotated,
    .subject = told([](Rope&, Mask&, Positions& positions, const Communicator& comm) {
      const int64_t slots = count(positions);
      positions = {{comm.rank() * slots, slots}};
    })}},
  {"rope_restarts_in_every_shard", {
    .operators = {"M29"}, .stands_for = "Megatron-DeepSpeed#392, Megatron-LM#4075",
    .wrong = "positions start at 0 in every shard",
    .site = Site::kRope, .cases = {cases::kRope}, .names = kRotated,
    .subject = told([](Rope&, Mask&, Positions& positions, const Communicator&) {
      positions = {{0, count(positions)}};
    })}},
  {"rope_document_offset_missing", {
    .operators = {"M30"}, .stands_for = "Megatron-LM#5243",
    .wrong = "in packed sequences positions count on: the offset of the document is not taken "
              "off",
    .site = Site::kRope, .cases = {cases::kRopeDocuments}, .names = kRotated,
    .subject = told(
        [](Rope&, Mask& mask, Positions&, const Communicator&) { mask.kind = Causal{}; })}},
  {"rope_clamped", {
    .operators = {"M31"}, .stands_for = "Megatron rope_utils.py",
    .wrong = "positions beyond the end of a table one too short read its last entry",
    .site = Site::kRope, .cases = {cases::kRope}, .names = kRotated,
    .subject = with_positions([](int64_t p) { return std::min<int64_t>(p, 34); })}},
  {"rope_off_by_one", {
    .operators = {"M28"}, .stands_for = "RoPE off by one on one rank",
    .wrong = "rank 1 rotates by the position after",
    .site = Site::kRope, .cases = {cases::kRope}, .names = {.tensors = {"q", "k"}, .rank = 1},
    .subject = told([](Rope&, Mask&, Positions& positions, const Communicator& comm) {
      std::vector<Span> spans = positions.spans();
      if (comm.rank() == 1)
        for (Span& span : spans) ++span.begin;
      positions = spans;
    })}},
  {"rope_of_interleaved_pairs", {
    .operators = {"M28"}, .stands_for = "pairing",
    .wrong = "channels are paired (2c, 2c + 1) in place of (c, c + d/2)",
    .site = Site::kRope, .cases = {cases::kRope}, .names = kRotated,
    .subject = told([](Rope& rope, Mask&, Positions&, const Communicator&) {
      rope.pairing = Rope::Pairing::kInterleaved;
    })}},
  {"rope_of_another_base", {
    .operators = {"M28"}, .stands_for = "torchtitan#1882",
    .wrong = "the table of another model: base 500000 in place of 10000",
    .site = Site::kRope, .cases = {cases::kRope}, .names = kRotated,
    .subject = told(
        [](Rope& rope, Mask&, Positions&, const Communicator&) { rope.base = 500000; })}},
  {"rope_missing_on_k", {
    .operators = {"M28"}, .stands_for = "Megatron-LM#1612",
    .wrong = "k is not rotated",
    .site = Site::kRope, .cases = {cases::kRope}, .names = {.tensors = {"k"}},
    .subject = with_parts([](Parts& parts, Communicator&, const Case& test) {
      parts.rotate = [test](const at::Tensor& x, const Rope& rope, const Mask& mask,
                            const Positions& positions) {
        return x.size(1) == test.kv_heads ? not_turned(x, rope, mask, positions)
                                          : rotate(x, rope, mask, positions);
      };
    })}},
  {"rope_gradient_not_turned_back", {
    .operators = {"M28"}, .stands_for = "inverse in backward",
    .wrong = "dQ and dK stay in the rotated frame",
    .site = Site::kRope, .cases = {cases::kRope}, .names = kGradients,
    .subject = with_turn_back(not_turned)}},
  {"rope_gradient_turned_forward", {
    .operators = {"M28"}, .stands_for = "sign in backward",
    .wrong = "dQ and dK are turned forward once more",
    .site = Site::kRope, .cases = {cases::kRope}, .names = kGradients,
    .subject = with_turn_back(rotate)}},
  {"rope_gradient_of_keys_turned_by_queries", {
    .operators = {"M28"}, .stands_for = "cross attention, or a decoder whose queries are cut otherwise",
    .wrong = "dK is turned back by the positions of the rank's queries",
    .site = Site::kRope, .cases = {cases::kRope}, .names = {.tensors = {"dk"}}, .proves = "layouts",
    .subject = ours_with(turned_back_by_queries)}},
}};

}  // namespace
}  // namespace ringcheck::parity
