// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "parity/case/problem.h"

namespace ringcheck::parity {

// What a rank is given: whoever calls attention goes on using q, k, v and dO, pads included.
class Given {
 public:
  // Remembers a trace of the bits, not the tensors. Who counts what a rank holds is told of nothing here.
  explicit Given(const Problem& problem);

  // Which of the tensors are no longer as they were, one bit for each.
  int64_t changed(const Problem& now) const;
  // Their names, "k, v".
  static std::string names(int64_t changed);

  using Traces = std::array<int64_t, 4>;
  // Those of tensors on a GPU, which is waited for once: sums over their bits. What is judged stands in the same
  // memory, so there is no copy of it, wherever a row is a multiple of 8 bytes.
  static Traces sums_of(const Problem& problem);

 private:
  static Traces traces_of(const Problem& problem);

  Traces traces_;
};

}  // namespace ringcheck::parity
