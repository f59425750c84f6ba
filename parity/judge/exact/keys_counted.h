// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "parity/case/case.h"

namespace ringcheck::parity {

// How many keys each query saw, by block of keys, against how many the mask shows it. All on the
// CPU in float64, whole numbers.
struct KeysCounted {
  at::Tensor counted, expected;  // [batch, q_heads, seq, blocks]
  at::Tensor judged;  // [batch, 1, seq] bool: where counting can tell one key more or less
  // [batch, q_heads, seq, blocks] of the keys: 1 where a key belongs to a block, else 0.
  at::Tensor blocks;
};

// For each rank on which queries saw other keys: the first such query, its counts, and which keys
// are missing or count twice, where the counts of all queries of that rank and head leave no doubt.
std::vector<std::string> miscounts(const Case& test, const KeysCounted& keys);

}  // namespace ringcheck::parity
