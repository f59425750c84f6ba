// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// What the strategy says of its arguments, held against it.
std::vector<Run> runs(const Case& test) {
  std::vector<Run> list;
  for (const std::string& arguments : Strategies::at(test.strategy).same_bits(test.arguments)) {
    Case other = test;
    other.arguments = arguments;
    list.push_back({other});
  }
  return list;
}

const Oracles::Add registered{
    "rotations",
    {"F is the same, bit for bit, for every rotation of the blocks", same_bits_in_all_runs, runs,
     Oracle::Rigour::kExact, "further runs", "",
     {.same_bits = true, .by_strategy = true}}};

}  // namespace
}  // namespace ringcheck::parity
