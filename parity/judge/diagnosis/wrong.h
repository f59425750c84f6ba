// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "parity/judge/against_reference.h"
#include "parity/judge/diagnosis/asked.h"
#include "parity/judge/diagnosis/nearness.h"

namespace ringcheck::parity {

bool is_lse(const NamedTensor& named);

// [.., channels], of LSE one.
at::Tensor with_channels(const at::Tensor& x, const NamedTensor& named);

// A tensor that is wrong. Behind the tokens of an entry its truth is empty.
struct Wrong {
  const NamedTensor& named;
  at::ScalarType dtype;  // in which it came
  bool judged;           // and not only looked at because q or k were rotated wrongly
  Beside all;

  // Those of a key-value head and what belongs to it, [heads, tokens, channels].
  at::Tensor part(const at::Tensor& x, int64_t entry, const Asked& asked) const;
  // As place_of_errors() says, of a case of this dtype.
  std::string place(const std::vector<int64_t>& owner, at::ScalarType of) const;
};

// Those of these names; all where the rotated q or k is among them. The truth is not there yet.
std::vector<Wrong> wrong_of(const Case& test, const Outcome& outcome, const std::set<std::string>& names);

}  // namespace ringcheck::parity
