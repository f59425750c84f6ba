// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "cp/layout/visibility.h"

namespace ringcheck {

// In how many strips the tokens of a sequence are, over all blocks of its scores: as keys, and as queries. Each gives them a
// term of their gradient. Of a strip with a diagonal and keys before or behind it a query counts twice, since a kernel may
// compute the two apart.
class StripsOfToken {
 public:
  explicit StripsOfToken(int64_t length) : as_key_(length), as_query_(length) {}
  // Throws std::invalid_argument where the keys do not ascend. Pad slots are nobody's.
  void add(const Visibility& block);
  // Of any token.
  int64_t most_as_key() const;
  int64_t most_as_query() const;

 private:
  std::vector<int64_t> as_key_, as_query_;  // by position
};

}  // namespace ringcheck
