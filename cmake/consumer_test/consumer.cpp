// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The smallest use of an installed RingCheck: a causal block of four positions has ten pairs.
#include <ATen/ATen.h>

#include <iostream>

#include "cp/layout/positions.h"

int main() {
  const ringcheck::Mask causal = {ringcheck::Causal{}, 4};
  const ringcheck::Positions positions = {{0, 4, 1}};
  const int64_t pairs = ringcheck::visible_pairs(causal, positions, positions);
  std::cout << "visible pairs: " << at::full({}, pairs).item<int64_t>() << '\n';
  return pairs == 10 ? 0 : 1;
}
