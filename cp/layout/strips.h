// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cp/layout/positions.h"

namespace ringcheck {

// Key slots [begin, end).
struct SlotRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  bool operator==(const SlotRange&) const = default;
};

// The key slots that each query slot sees. One range each: every mask shows an interval of
// positions, and a shard holds its positions in ascending order (throws std::invalid_argument
// where it does not).
std::vector<SlotRange> visible_slots(const Mask& mask, const Positions& queries,
                                     const Positions& keys);

// A run of query slots whose part of the score matrix has a shape that dense kernels know.
struct Strip {
  enum class Kind {
    kFull,      // every query sees all columns
    kCausal,    // the last query sees all columns, each one before it one less (bottom right)
    kMirrored,  // the first query sees all columns, each one after it one less: kCausal, read backwards
    kBand       // every query sees `width` columns, each one column further than the one before
  };
  Kind kind = Kind::kFull;
  int64_t row = 0, rows = 0;        // query slots
  int64_t column = 0, columns = 0;  // key slots that any of them sees
  int64_t width = 0;                // of a band
  bool operator==(const Strip&) const = default;
};

// The strips of a block from the first query to the last, as long as they go, by what each query
// sees. Queries that see no key are in none, every other query in exactly one.
std::vector<Strip> strips_of(const std::vector<SlotRange>& seen);

}  // namespace ringcheck
