// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "reference/attention.h"
#include "reference/tiles/key_runs.h"
#include "reference/mask.h"

namespace ringcheck::reference {

// A run of positions.
struct Range {
  int64_t begin = 0;
  int64_t size = 0;
};

// 0 ... length - 1 in runs of `size`, the last one perhaps shorter.
std::vector<Range> ranges(int64_t length, int64_t size);

// A block of the score matrix that holds at least one visible pair.
struct Tile {
  Range rows;             // queries
  Range columns;          // keys
  at::Tensor begin, end;  // [rows] int32: the run of keys that a query sees
  bool full = false;      // every pair is visible
};

// [rows, columns] bool, true where invisible.
at::Tensor hidden(const Tile& tile);

// The tiles of one run of queries, from the first key to the last.
struct Strip {
  Range rows;
  std::vector<Tile> tiles;
};

// A score matrix cut into tiles: each strip from the first key that its queries see to the last. A
// tile without a visible pair is left out.
struct Tiles {
  std::vector<Strip> strips;
  at::Tensor begin, end;  // [queries] int32: the run of keys that a query sees
  at::Tensor keys;        // [queries] float64: how many keys a query sees
  at::Tensor queries;     // [keys] float64: how many queries see a key
};

Tiles tiles(const KeyRuns& runs, const Tiling& tiling, at::Device device);

// [queries] float64.
at::Tensor keys_of_queries(const KeyRuns& runs, at::Device device);

// [queries, keys] bool on the CPU: visible(mask, q, k) of every pair.
at::Tensor visible_pairs(const Mask& mask, Range queries, Range keys);

}  // namespace ringcheck::reference
