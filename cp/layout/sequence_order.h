// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "cp/layout/moves.h"
#include "cp/layout/positions.h"

namespace ringcheck {

// Where the slots of all shards stand in the sequence 0, 1, ..., length - 1. Pad slots stand
// nowhere.
class SequenceOrder {
 public:
  // Together the shards must hold each position of the sequence once: see whole().
  SequenceOrder(const std::vector<Positions>& shards, int64_t length);

  // Whether they do; looks at every position.
  static bool whole(const std::vector<Positions>& shards, int64_t length);

  // Whether every shard is a stretch of the sequence, or two of one size, and has no pads: then place() and part() are
  // all of it.
  bool straight() const { return straight_; }
  // Of a rank, [batch, heads, stretches, tokens, ...]: where they stand in `sequence`, and in its shard. Views.
  at::Tensor place(const at::Tensor& sequence, int rank) const;
  at::Tensor part(const at::Tensor& shard, int rank) const;

  int64_t length() const { return length_; }
  Positions positions() const { return {{0, length_}}; }

  // Copies the tokens of a rank's shard [batch, heads, slots, ...] to where they stand in
  // `sequence` [batch, heads, length, ...].
  void put(const at::Tensor& shard, int rank, const at::Tensor& sequence) const;
  // And back; pad slots are filled with `pad`.
  void take(const at::Tensor& sequence, int rank, const at::Tensor& shard, double pad) const;
  // The same among other copies, when they are made; pad slots are filled at once.
  void put(const at::Tensor& shard, int rank, const at::Tensor& sequence, Moves& moves) const;
  void take(const at::Tensor& sequence, int rank, const at::Tensor& shard, double pad, Moves& moves) const;

 private:
  // Slots [slot, slot + rows * columns): row i, column j is position begin + i * gap + j * stride.
  struct Run {
    int64_t slot = 0, rows = 1, columns = 0;
    int64_t begin = 0, gap = 0, stride = 1;
  };
  struct Shard {
    std::vector<Run> runs;
    std::vector<Span> pads;  // slots
  };
  static Shard shard_of(const Positions& positions, int64_t length);
  static at::Tensor of_shard(const at::Tensor& shard, const Run& run);
  static at::Tensor of_sequence(const at::Tensor& sequence, const Run& run);

  int64_t length_;
  bool straight_ = true;
  std::vector<Shard> shards_;
};

}  // namespace ringcheck
