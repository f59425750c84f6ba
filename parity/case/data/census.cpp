// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "parity/case/data_family.h"

namespace ringcheck::parity {
namespace {

// The block of a key: dim_v neighbourhoods, or in every other key-value head the keys in turn, so
// that shards of any kind are told apart. Which block comes first depends on the seed.
int64_t block_of(const Task& test, const Element& e) {
  const auto position = static_cast<int64_t>(e.position);
  const bool in_turn = (e.head + e.batch) % 2 == 1;
  const int64_t block = in_turn ? position : position * test.dim_v / test.seq;
  return (block + e.of_all_positions().bits(3)[0]) % test.dim_v;
}

// Every score is 0, whatever the keys are.
void fill(const Task& test, Element e, std::span<double> row) {
  if (e.which == Which::kQ || e.which == Which::kV) std::ranges::fill(row, 0);
  if (e.which == Which::kV) row[static_cast<size_t>(block_of(test, e))] = 1;
  if (e.which == Which::kQ || e.which == Which::kV) return;
  for (double& x : row) {
    x = filled(normal(e), e, test.dtype);
    ++e.channel;
  }
}

DataFamily census() {
  DataFamily family{"q = 0, v one-hot by block of keys: O and LSE count the visible keys", fill};
  family.silent = {"dq"};  // no signal where every query sees one block only
  return family;
}

const DataFamilies::Add registered{"census", census()};

}  // namespace
}  // namespace ringcheck::parity
