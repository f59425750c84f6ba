// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "parity/judge/conservation/conservation_sums.h"

namespace ringcheck::cli {

// What one file of a dump says: a whole problem or the shard of one rank.
struct GuardFile {
  parity::AttentionShard shard;
  std::set<at::ScalarType> dtypes;    // of its tensors
  double scale = 0;                   // metadata `scale`, else 1 / sqrt(dim)
  bool rotated = true;                // metadata `rope` is absent or none
  bool has_lse = false;
  int rank = -1, world = -1;          // metadata: both, or -1: not said
  std::vector<std::string> findings;  // what is wrong whatever the laws say: NaN, infinities

  int64_t group() const { return shard.q.size(1) / shard.k.size(1); }
};

// Reads the keys q k v o do dq dk dv and, perhaps, lse. Throws UsageError where a key is missing or
// shapes, dtypes or metadata are no attention, and parity::BadCase where it is no such file.
GuardFile read_guard_file(const std::string& path);

}  // namespace ringcheck::cli
