// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>

#include "cp/attention/attention_kernel.h"
#include "cp/ledger/rounding.h"
#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

// To rotate x, which has so many vectors: angles, their cosines and sines, the four products, their
// two sums, and these as one tensor.
int64_t turning(const Case& test, int64_t vectors, int64_t slots) {
  const int64_t tables = slots * test.dim * 8 + 8 * slots + 4 * test.dim;
  return 4 * vectors * test.dim * wide_bytes(test) + tables;
}

// Bytes of the tensors of a rank.
struct Sizes {
  Sizes(const Case& test, int rank)
      : test(test), e(static_cast<int64_t>(c10::elementSize(test.dtype))),
        wide(wide_bytes(test)), slots(slots_of_rank(test)),
        pads(pads_of_rank(test, rank)), rotates(test.rope.pairing != Rope::Pairing::kNone),
        converts(e < wide), rows(test.batch * test.q_heads * slots),
        keys(test.batch * test.kv_heads * slots), dim(test.dim), dim_v(test.dim_v) {}

  const Case& test;
  int64_t e, wide, slots, pads;
  bool rotates, converts;
  int64_t rows, keys, dim, dim_v;

  // q or k as it comes, with its pads cleared and rotated: what that takes, and what it leaves.
  int64_t preparing(int64_t vectors) const {
    const int64_t cleared = pads > 0 ? vectors * dim * e : 0;
    return rotates ? cleared + (converts ? vectors * dim * wide : 0) + turning(test, vectors, slots) : cleared;
  }
  int64_t prepared(int64_t vectors) const {
    return rotates || pads > 0 ? vectors * dim * e : 0;
  }
  int64_t cleared_v() const { return pads > 0 ? keys * dim_v * e : 0; }
  int64_t cleared_d_o() const { return pads > 0 ? rows * dim_v * e : 0; }
  // While D = rowsum(dO * O) of so many queries is computed, if the kernel takes it, D included.
  int64_t products(int64_t vectors) const {
    const int64_t d = d_bytes(test, vectors);
    return d == 0 ? 0 : (converts ? 3 : 1) * vectors * dim_v * wide + d;
  }
};

// Numbers that are tensors, and what else is small.
constexpr int64_t kOdds = 1 << 10;

// No more buffers than these are alive at a time: of a rank, and of what the mask shows of each block,
// for each length of a batch entry.
int64_t most_buffers(const Case& test) {
  return 32 + 2 * int64_t{test.world} * std::max<int64_t>(1, std::ssize(test.lengths));
}

// On a device: from which key slot to which each query of a block sees, kept for the next pass.
int64_t visibility_bytes(const Case& test, const std::vector<ExpectedStep>& steps) {
  if (device_type_of(test) == at::kCPU) return 0;
  int64_t queries = 0;
  for (const ExpectedStep& step : steps)
    queries += step.block.queries == ExpectedBlock::kSequence ? test.seq : slots_of_rank(test);
  return 2 * static_cast<int64_t>(sizeof(int32_t)) * queries * std::max<int64_t>(1, std::ssize(test.lengths));
}

// The largest buffer that the frame or a strategy needs, at most: all blocks gathered, or a tensor of
// queries in float64.
int64_t largest_buffer(const Case& test, const Sizes& n) {
  return std::max(test.world * std::max(kv_block_bytes(test), gradient_block_bytes(test)),
                  8 * n.rows * std::max(n.dim, n.dim_v));
}

BlockShape shape_of(const Plan& plan, const Case& test, const ExpectedBlock& block,
                    const Entries& some) {
  const auto slots = [&](const std::vector<Positions>& shards, int whose) {
    return whose == ExpectedBlock::kSequence ? Positions{{0, test.seq}} : shards.at(whose);
  };
  return {.dtype = test.dtype, .device = device_type_of(test), .batch = some.count,
          .q_heads = test.q_heads / block.parts, .kv_heads = test.kv_heads / block.parts,
          .dim = test.dim, .dim_v = test.dim_v,
          .visibility = {some.mask, slots(plan.layout.queries, block.queries),
                         slots(plan.layout.keys, block.keys)},
          .scale = plan.scores.scale};
}

// What a kernel says that it allocates for a block. Where batch entries differ in length it is called
// for some of them at a time, beside the results of all.
CallBytes call_bytes(const Plan& plan, const Case& test, const ExpectedBlock& block) {
  CallBytes most;
  for (const Entries& some : entries_of(test)) {
    const CallBytes call = plan.kernel->call_bytes(shape_of(plan, test, block, some));
    most = {std::max(most.forward, call.forward), std::max(most.backward, call.backward)};
  }
  if (test.lengths.empty()) return most;
  const CallBytes results = result_bytes(shape_of(plan, test, block, {0, test.batch, mask_of(test)}));
  return {most.forward + results.forward, most.backward + results.backward};
}

void raise(int64_t& peak, std::initializer_list<int64_t> bytes) {
  peak = std::max(peak, std::max(bytes));
}

// Before the first block is attended. Forward q, v and k are prepared; backward D = rowsum(dO * O) is computed. Then the
// first block comes.
void prepare(const Sizes& n, ExpectedCounters& expected) {
  raise(expected.forward_stock.peak(Stage::kPrepare),
        {n.preparing(n.rows), n.prepared(n.rows) + n.cleared_v() + n.preparing(n.keys), expected.steps.front().forward.preparing});
  raise(expected.backward_stock.peak(Stage::kPrepare),
        {expected.forward_stock.after + n.cleared_d_o() + (expected.one_d ? n.products(n.rows) : 0),
         expected.steps.front().backward.preparing});
}

// Vectors of q of a block, over batch and heads.
int64_t queries_of(const Case& test, const ExpectedBlock& block) {
  const int64_t positions = block.queries == ExpectedBlock::kSequence ? test.seq : slots_of_rank(test);
  return test.batch * test.q_heads / block.parts * positions;
}

// While blocks are attended, and between them.
// Returns the largest of its calls.
int64_t attend(const Case& test, const Sizes& n, ExpectedCounters& expected) {
  const Plan plan = plan_of(test);
  int64_t largest = 0;
  for (const ExpectedStep& step : expected.steps) {
    const CallBytes call = call_bytes(plan, test, step.block);
    const int64_t vectors = expected.one_d ? 0 : queries_of(test, step.block), d = d_bytes(test, vectors);
    raise(largest, {call.forward, call.backward});
    raise(expected.forward_stock.peak(Stage::kAttend), {step.forward.attending + call.forward});
    raise(expected.backward_stock.peak(Stage::kAttend), {step.backward.attending + std::max(d + call.backward, n.products(vectors))});
    raise(expected.forward_stock.peak(Stage::kCombine), {step.forward.combining});
    raise(expected.backward_stock.peak(Stage::kCombine), {step.backward.combining});
  }
  return largest;
}

// When the strategy is through: forward O is rounded; backward dQ and then dK are rotated back and
// rounded, and dV is rounded.
void finish(const Case& test, const Sizes& n, ExpectedCounters& expected) {
  const int64_t saved = expected.forward_stock.after;
  raise(expected.forward_stock.peak(Stage::kFinish),
        {saved + (n.converts && !expected.result.rounded_o ? n.rows * n.dim_v * n.wide : 0)});
  if (expected.result.finished_gradients) {
    raise(expected.backward_stock.peak(Stage::kFinish),
          {saved + n.rows * n.dim * n.e + kv_block_bytes(test)});
    return;
  }
  const Finishing dq = finishing(test, n.rows, n.slots), dk = finishing(test, n.keys, n.slots);
  const int64_t dv = n.converts ? n.keys * n.dim_v * n.e : 0;
  const int64_t whole = saved + query_gradient_bytes(test) + gradient_block_bytes(test);
  raise(expected.backward_stock.peak(Stage::kFinish),
        {whole + dq.takes, whole + dq.leaves + dk.takes, whole + dq.leaves + dk.leaves + dv});
}

}  // namespace

// Contiguous tensor operations, one after the other: the weights of both sides, their exponentials and
// sums, then four tensors as large as O.
int64_t merge_bytes(const Case& test) {
  const int64_t wide = wide_bytes(test);
  const int64_t rows = test.batch * test.q_heads * slots_of_rank(test);
  return rows * ((4 * test.dim_v + 5) * wide + 2);
}

int64_t own_kv_bytes(const Case& test, int rank) {
  const Sizes n(test, rank);
  return n.prepared(n.keys) + n.cleared_v();
}

int64_t d_bytes(const Case& test, int64_t vectors) {
  return AttentionKernels::at(test.kernel)->takes_d() ? vectors * wide_bytes(test) : 0;
}

void alone(const Case& test, ExpectedCounters& expected) {
  const int64_t own = own_kv_bytes(test, 0);
  expected.forward_stock.after = expected.backward_stock.after = own;
  expected.steps = {{{0, 0},
                     {own, own + partial_bytes(test)},
                     {own, own + query_gradient_bytes(test) + gradient_block_bytes(test)}}};
}

Finishing finishing(const Case& test, int64_t vectors, int64_t slots) {
  const auto e = static_cast<int64_t>(c10::elementSize(test.dtype));
  const bool rotates = test.rope.pairing != Rope::Pairing::kNone, converts = e < wide_bytes(test);
  const int64_t leaves = rotates || converts ? vectors * test.dim * e : 0;
  return {rotates ? turning(test, vectors, slots) : leaves, leaves};
}

// Where q, k, v and dO lie before the passes is the subject's affair; ours copies them.
void add_peaks(const Case& test, int rank, ExpectedCounters& expected) {
  const Sizes n(test, rank);
  prepare(n, expected);
  const int64_t call = attend(test, n, expected);
  expected.rounding = most_buffers(test) *
                          rounding(device_type_of(test), std::max(largest_buffer(test, n), call)) +
                      visibility_bytes(test, expected.steps);
  finish(test, n, expected);
  int64_t most = expected.backward_stock.after + (n.rotates ? n.keys * n.dim * n.e : 0);
  for (Stock* stock : {&expected.forward_stock, &expected.backward_stock})
    for (int64_t& peak : stock->peaks) {
      peak += kOdds + expected.rounding;
      most = std::max(most, peak);
    }
  expected.peak_bytes =
      (n.rows + n.keys) * (n.dim + n.dim_v) * n.e + 16 * n.pads + most;
}

}  // namespace ringcheck::parity
