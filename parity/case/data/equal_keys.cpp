// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/data_family.h"

namespace ringcheck::parity {
namespace {

// One key a head, at every position.
void fill(const Task& test, Element first, std::span<double> row) {
  Element e = first.which == Which::kK ? first.of_all_positions() : first;
  for (double& x : row) {
    x = filled(normal(e) * (is_score(e.which) ? 1.75 : 1), e, test.dtype);
    ++e.channel;
  }
}

DataFamily equal_keys() {
  DataFamily family{"all keys equal: O is the mean of the visible v", fill, refuses_rope};
  family.silent = {"dq"};  // the sum of dS over the keys
  family.independent = false;
  return family;
}

const DataFamilies::Add registered{"equal-keys", equal_keys()};

}  // namespace
}  // namespace ringcheck::parity
