// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "reference/mask.h"

namespace ringcheck::reference {

// Which of `keys` keys each query sees: query i those with begin[i] <= j < end[i]; none where both
// are 0. Under every mask the keys of a query are one run.
struct KeyRuns {
  std::vector<int32_t> begin, end;  // one of each a query
  int64_t keys = 0;

  int64_t queries() const { return static_cast<int64_t>(begin.size()); }
};

// The run of every position, found by bisection of visible(mask, q, k) on either side of the
// query's own position. That the rest follows is verified, not assumed: at every key of sequences
// up to 4096, beyond that at 64 keys of each query, spread evenly over all pairs. So a difference in
// a share f of the pairs stays unseen with probability (1 - f)^(64 length). Throws std::logic_error
// that names a pair of which the run is wrong.
KeyRuns key_runs(const Mask& mask);

// What is left of the runs when only some queries, or only some keys, are kept: strictly increasing
// positions.
KeyRuns of_queries(const KeyRuns& runs, const std::vector<int64_t>& queries);
KeyRuns of_keys(const KeyRuns& runs, const std::vector<int64_t>& keys);

// How many queries see each key.
std::vector<int64_t> queries_of_keys(const KeyRuns& runs);

}  // namespace ringcheck::reference
