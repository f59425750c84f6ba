// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ringcheck::parity {

// A tensor whose numbers stand in other places.
struct Reordered {
  std::string words;  // behind "as if"
  at::Tensor tensor;
};

// Usual ways to put [entries, heads, tokens, channels] into the wrong order, which keep its shape: entries, heads and
// channels shifted, swapped or interleaved, tokens reversed. `group` heads share a key-value head; 1 in tensors of keys.
std::vector<Reordered> reordered(const at::Tensor& right, int64_t group);

}  // namespace ringcheck::parity
