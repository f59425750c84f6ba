// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cp/layout/positions.h"

namespace ringcheck {

// Tokens of each entry of a padded batch: the slots at and beyond it are pads of that entry alone. All
// entries are cut alike, so masks of entries differ in their length and in nothing else. Empty: every
// entry holds what the mask says.
using Lengths = std::vector<int64_t>;

// Entries that follow each other and hold equally many tokens: what is computed together.
struct SameLength {
  int64_t first = 0, count = 0;  // entries
  Mask mask;                     // of each of them

  at::Tensor of(const at::Tensor& x) const;  // x [batch, ...]: theirs, a view
};
std::vector<SameLength> by_length(const Mask& mask, const Lengths& lengths, int64_t batch);

// Why a batch of so many entries cannot have these lengths, or nothing. Packed documents say
// themselves where they are padded.
std::optional<std::string> refuses(const Mask& mask, const Lengths& lengths, int64_t batch);

}  // namespace ringcheck
