// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "cp/layout/visibility.h"

namespace ringcheck {

// In how many strips each token of a sequence is, over all blocks of its scores: as a key, and as a query. Each gives it a
// term of its gradient. Of a strip with a diagonal and keys before or behind it a query counts twice, since a kernel may
// compute the two apart.
class StripsOfToken {
 public:
  explicit StripsOfToken(int64_t length) : as_key_(length), as_query_(length) {}
  // Throws std::invalid_argument where the keys do not ascend. Pad slots are nobody's.
  void add(const Visibility& block);
  // Of any token, on either side.
  int64_t most() const;

 private:
  std::vector<int64_t> as_key_, as_query_;  // by position
};

}  // namespace ringcheck
