// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parity/judge/conservation/conservation.h"

namespace ringcheck::parity {

// Files in which some tensors stand in another order of tokens.
struct Reordered {
  std::string says;  // what would have been wrong
  std::vector<AttentionShard> files;
};

// Of several files: dk and dv, dq, or o of the next file or the one before. Of one file: the same
// tensors from and to the head-tail order of 2, 4, ... 64 ranks. Only of tensors whose order matters
// to the laws that are broken, and to no other. The order of the files, and any that all tensors
// share, does not matter to a law.
std::vector<Reordered> reordered(const std::vector<AttentionShard>& files,
                                 const std::vector<LawVerdict>& laws);

}  // namespace ringcheck::parity
