// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "reference/mask.h"

namespace ringcheck {

// An arithmetic run of global positions: begin, begin + stride, ...
struct Run {
  int64_t begin = 0;
  int64_t count = 0;
  int64_t stride = 1;
  bool operator==(const Run&) const = default;
};

// The global positions of the slots of one shard, in the order in which it holds them. A position
// at or beyond the length of the sequence is a pad slot.
using Positions = std::vector<Run>;

// The positions of every rank of a world. All shards have the same number of slots.
using Layout = std::vector<Positions>;

int64_t count(const Positions& positions);
std::vector<int64_t> flatten(const Positions& positions);

// The key-value heads [begin, begin + count) of the model that a block holds.
struct HeadRange {
  int64_t begin = 0, count = 0;
};

// Every mask lets a query see one interval of keys [begin, end) in global positions.
struct Interval {
  int64_t begin = 0, end = 0;
};
Interval visible_keys(const Mask& mask, int64_t query);

// Number of (query, key) pairs of the two position sets that the mask lets attend.
int64_t visible_pairs(const Mask& mask, const Positions& queries, const Positions& keys);

// What a mask leaves of a block of scores, row-major [queries, keys].
struct BlockMask {
  enum class Kind { kEmpty, kPartial, kFull };
  Kind kind = Kind::kEmpty;
  std::vector<uint8_t> visible;
};
BlockMask block_mask(const Mask& mask, const std::vector<int64_t>& queries,
                     const std::vector<int64_t>& keys);

}  // namespace ringcheck
