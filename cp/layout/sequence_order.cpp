// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/sequence_order.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ringcheck {

SequenceOrder::SequenceOrder(const std::vector<Positions>& shards, int64_t length)
    : length_(length) {
  for (const Positions& positions : shards) shards_.push_back(shard_of(positions, length));
  for (const Shard& shard : shards_)
    straight_ = straight_ && shard.pads.empty() && shard.runs.size() == 1 && shard.runs[0].rows <= 2 && shard.runs[0].stride == 1;
}

at::Tensor SequenceOrder::place(const at::Tensor& sequence, int rank) const {
  return of_sequence(sequence, shards_.at(rank).runs.at(0));
}

at::Tensor SequenceOrder::part(const at::Tensor& shard, int rank) const { return of_shard(shard, shards_.at(rank).runs.at(0)); }

bool SequenceOrder::whole(const std::vector<Positions>& shards, int64_t length) {
  std::vector<bool> held(length);
  int64_t tokens = 0;
  for (const Positions& positions : shards)
    for (const int64_t position : flatten(positions)) {
      if (position >= length) continue;
      if (position < 0 || held[position]) return false;
      held[position] = true;
      ++tokens;
    }
  return tokens == length;
}

// Spans of one size at equal distances are one run: chunks of both ends, and stripes.
SequenceOrder::Shard SequenceOrder::shard_of(const Positions& positions, int64_t length) {
  Shard shard;
  int64_t slot = 0;
  for (const Span& span : positions) {
    const int64_t step = std::max<int64_t>(1, span.stride);
    const int64_t reached = std::max<int64_t>(0, (length - span.begin + step - 1) / step);
    const int64_t tokens = std::min(span.count, reached);
    if (tokens > 0) {
      Run run{slot, 1, tokens, span.begin, 0, step};
      if (tokens == 2 && step > 1) run = {slot, 2, 1, span.begin, step, 1};  // two stretches
      if (tokens == 1) run.stride = 1;
      Run* last = shard.runs.empty() ? nullptr : &shard.runs.back();
      const int64_t gap = last ? run.begin - last->begin - (last->rows - 1) * last->gap : 0;
      const bool goes_on = last && run.rows == 1 && run.slot == last->slot + last->rows * last->columns &&
                           run.columns == last->columns && run.stride == last->stride && gap > 0 &&
                           (last->rows == 1 || gap == last->gap);
      if (goes_on) ++last->rows, last->gap = gap;
      else shard.runs.push_back(run);
    }
    if (tokens < span.count) shard.pads.push_back({slot + tokens, span.count - tokens});
    slot += span.count;
  }
  return shard;
}

// [batch, heads, rows, columns, ...]
at::Tensor SequenceOrder::of_shard(const at::Tensor& shard, const Run& run) {
  return shard.narrow(2, run.slot, run.rows * run.columns).unflatten(2, {run.rows, run.columns});
}

at::Tensor SequenceOrder::of_sequence(const at::Tensor& sequence, const Run& run) {
  auto sizes = sequence.sizes().vec(), strides = sequence.strides().vec();
  const int64_t step = strides[2];
  sizes[2] = run.columns;
  sizes.insert(sizes.begin() + 2, run.rows);
  strides[2] = run.stride * step;
  strides.insert(strides.begin() + 2, run.gap * step);
  return sequence.as_strided(sizes, strides, sequence.storage_offset() + run.begin * step);
}

void SequenceOrder::put(const at::Tensor& shard, int rank, const at::Tensor& sequence) const {
  Moves moves;
  put(shard, rank, sequence, moves);
  moves.make();
}

void SequenceOrder::take(const at::Tensor& sequence, int rank, const at::Tensor& shard, double pad) const {
  Moves moves;
  take(sequence, rank, shard, pad, moves);
  moves.make();
}

void SequenceOrder::put(const at::Tensor& shard, int rank, const at::Tensor& sequence, Moves& moves) const {
  for (const Run& run : shards_.at(rank).runs) moves.add(of_sequence(sequence, run), of_shard(shard, run));
}

void SequenceOrder::take(const at::Tensor& sequence, int rank, const at::Tensor& shard, double pad,
                         Moves& moves) const {
  for (const Run& run : shards_.at(rank).runs) moves.add(of_shard(shard, run), of_sequence(sequence, run));
  for (const Span& pads : shards_.at(rank).pads) shard.narrow(2, pads.begin, pads.count).fill_(pad);
}

}  // namespace ringcheck
