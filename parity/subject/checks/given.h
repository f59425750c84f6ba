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
  // Remembers a trace of the bits, not the tensors.
  explicit Given(const Problem& problem);

  // Which of the tensors are no longer as they were, one bit for each.
  int64_t changed(const Problem& now) const;
  // Their names, "k, v".
  static std::string names(int64_t changed);

  using Trace = std::array<int64_t, 2>;
  // That of a contiguous tensor on a GPU: sums of its bits by row and by column. What is judged stands
  // in the same memory, so there is no copy of it, wherever a row is a multiple of 8 bytes.
  static Trace sums_of(const at::Tensor& x);

 private:
  using Traces = std::array<Trace, 4>;
  static Traces traces_of(const Problem& problem);

  Traces traces_;
};

}  // namespace ringcheck::parity
