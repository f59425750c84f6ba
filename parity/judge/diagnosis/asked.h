// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "parity/case/case.h"
#include "parity/case/problem.h"
#include "parity/judge/diagnosis/attended.h"

namespace ringcheck::parity {

// One batch entry of a case, and of it one key-value head with its query heads.
struct Asked {
  const Case& test;
  int64_t head = 0;            // the key-value head
  Mask mask;                   // of the entry
  at::Tensor k, v;             // of the entry, [key-value heads, tokens, ...]
  Attending right;             // what was asked for
  reference::Tensors answer;   // to that
  std::vector<std::vector<int64_t>> slots = {};  // by rank, the positions of its slots in their order
  std::vector<int64_t> owner = {}, slot = {};    // by position of a token: whose, and which of its slots

  int64_t tokens() const { return mask.length; }
  int64_t ranks() const { return static_cast<int64_t>(slots.size()); }
  int64_t heads() const { return right.q.size(0); }
};

// Of a problem with zeros in slots that hold no token, and the pairs of the entry that see each other.
Asked asked_of(const Case& test, const Problem& problem, int64_t entry, int64_t head, const at::Tensor& pairs);

}  // namespace ringcheck::parity
