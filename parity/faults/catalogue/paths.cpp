// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Right in the shape of the case, wrong in a path that another shape, mask or layout takes.
#include <ATen/ATen.h>

#include <cmath>

#include "cp/ledger/memory.h"
#include "parity/faults/catalogue/cases.h"
#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"

namespace ringcheck::parity {
namespace {

constexpr const char* kEightRanks = "ring:p2p/headtail/causal/P8/b2/hq8/hkv1/s128/d8/dv64";

// A shard is taken for one run of consecutive positions.
void as_one_run(KernelCall& call) {
  for (Positions* x : {&call.q.positions, &call.kv.positions})
    *x = {{x->at(0).begin, count(*x)}};
}

// The tile for at most 8 keys takes the width of V for that of K.
void short_tile(KernelCall& call) {
  if (count(call.kv.positions) <= 8)
    call.scores.scale = 1 / std::sqrt(static_cast<double>(call.kv.shape.dim_v));
}

// Beyond 16 heads in all, another grid, which leaves out the last key of a block.
void wide_grid(KernelCall& call) {
  const int64_t heads = call.q.q.size(0) * call.q.q.size(1), keys = call.kv.shape.slots - 1;
  if (call.saved || heads <= 16) return;
  std::vector<Span> left;
  for (const int64_t position : flatten(call.kv.positions)) left.push_back({position, 1});
  left.pop_back();
  call.kv = pack(call.kv.k().narrow(2, 0, keys), call.kv.v().narrow(2, 0, keys), left);
}

// Without groups, V is read a head too far.
void ungrouped(KernelCall& call) {
  if (call.saved || call.q.q.size(1) != call.kv.shape.heads) return;
  call.kv = own_copy(call.kv);
  call.kv.v().copy_(call.kv.v().roll(1, 1));
}

// At 2 ranks left and right are one: what arrives is taken for the own block.
AroundKernel left_is_right(Communicator& comm, const Case&) {
  return {[pair = comm.size() == 2](KernelCall& call) {
    if (pair) call.kv.positions = call.q.positions;
  }};
}

// Under a window the first key of the sequence stays visible.
void with_sink(const KernelCall& call, Partial& part) {
  const auto* window = std::get_if<Window>(&call.scores.mask.kind);
  if (window == nullptr || call.kv.positions.at(0).begin != 0) return;
  const int64_t group = call.q.q.size(1) / call.kv.shape.heads;
  const auto first = [&](const at::Tensor& x) {
    return x.narrow(2, 0, 1).to(part.lse.scalar_type()).repeat_interleave(group, 1);
  };
  const at::Tensor q = call.q.q.to(part.lse.scalar_type());
  at::Tensor score = q.matmul(first(call.kv.k()).transpose(2, 3)).squeeze(3) * call.scores.scale;
  at::Tensor value = first(call.kv.v()).expand_as(part.out).clone();
  int64_t slot = 0;
  for (const int64_t position : flatten(call.q.positions)) {
    if (position < window->width || position >= call.scores.mask.length) {
      score.select(2, slot).fill_(-INFINITY);
      value.select(2, slot).zero_();
    }
    ++slot;
  }
  part = merge(part, {value, score});
}

// A buffer of every rank's statistics that no tag counts.
AroundKernel statistics_of_all(Communicator& comm, const Case&) {
  constexpr int64_t kBytesOfARank = 8 << 10;
  return {[ranks = comm.size(), kept = at::Tensor()](KernelCall& call) mutable {
    if (!kept.defined())
      kept = at::zeros({ranks * kBytesOfARank}, call.q.q.options().dtype(at::kByte));
  }};
}

// Under the window of `position-shift`.
constexpr const char* kThird = "ring:p2p/contiguous/window[12]/P3/b2/hq4/hkv2/s36/d16";
const Named kForward{.tensors = {"o", "lse"}};

const FaultGroup group{"paths", {
  {"shard_taken_for_one_run", {
    .operators = {"M09"}, .stands_for = "tokenspeed#364",
    .wrong = "a shard is taken for one run of positions, which only plain pieces are",
    .site = Site::kKernel, .cases = {cases::kContiguous}, .names = kForward,
    .proves = "balancers", .subject = with_calls(as_one_run)}},
  {"short_tile_scales_by_dv", {
    .operators = {"M53"}, .stands_for = "the scale of another width",
    .wrong = "blocks of at most 8 keys are scaled by 1 / sqrt(dv)",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kForward, .proves = "prefix",
    .needs = cases::kCausal, .subject = with_calls(short_tile)}},
  {"wide_grid_forgets_a_key", {
    .operators = {"M57"}, .stands_for = "a tail that only a second grid has",
    .wrong = "with more than 16 heads over the batch the last key of a block is left out",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kForward,
    .proves = "larger-batch", .subject = with_calls(wide_grid)}},
  {"ungrouped_heads_shifted", {
    .operators = {"M26"}, .stands_for = "vllm-omni#5716, in the path without groups",
    .wrong = "where every query head has a key head of its own, V is read a head too far",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = {.tensors = {"o"}},
    .proves = "repeated-heads", .subject = with_calls(ungrouped)}},
  {"left_is_right_at_two", {
    .operators = {"M15"}, .stands_for = "a ring that is only tested from 3 ranks on",
    .wrong = "with 2 ranks the neighbour's block is masked as the own one",
    .site = Site::kRotation, .cases = {cases::kCausal}, .names = kForward, .proves = "worlds",
    .subject = with_kernel(left_is_right)}},
  {"sink_kept_under_a_window", {
    .operators = {"M11"}, .stands_for = "StreamingLLM sinks left on",
    .wrong = "the first key of the sequence stays visible under a window",
    .site = Site::kKernel, .cases = {cases::kContiguous}, .names = kForward,
    .proves = "position-shift", .needs = kThird,
    .subject = with_kernel([](Communicator&, const Case&) {
      return AroundKernel{.after_forward = with_sink};
    })}},
  {"statistics_of_all_ranks_kept", {
    .operators = {"M51"}, .stands_for = "TransformerEngine#2916, outside the counted tags",
    .wrong = "every rank keeps a buffer for the statistics of all ranks",
    .site = Site::kCounters, .cases = {kEightRanks}, .names = {.words = {"peak bytes"}},
    .proves = "memory-growth", .subject = with_kernel(statistics_of_all)}},
  {"rank_without_dv", {
    .operators = {"M19"}, .stands_for = "a gradient hook that one rank never runs",
    .wrong = "rank 1 returns no dV",
    .site = Site::kStrategy, .cases = {cases::kCausal}, .names = {.rank = 1, .words = {"dv"}},
    .subject = with_output([](RankOutput& output, Communicator& comm, const Case&) {
      if (comm.rank() == 1) output.dv.reset();
    })}},
}};

}  // namespace
}  // namespace ringcheck::parity
