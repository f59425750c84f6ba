// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

std::vector<double> everybody_else(int world, int rank) {
  std::vector<double> shares(world, 1.0 / std::max(1, world - 1));
  shares[rank] = 0;
  return shares;
}

// Every rank sends its block to every other one, in each pass unless it is kept, and each term of a
// gradient straight to its owner. Held are all P gathered blocks, and until they are a copy of the own one; the own sum, and
// where terms move beside it an outgoing and an incoming one, made when the second term is there. One
// rank alone gathers nothing. All blocks are there before the first is attended; terms go while the next
// block but one to theirs is, and the first is nobody else's.
const ExpectedRotations::Add registered{
    "allgather",
    {[](int world) { return ExpectedRotation::Moves{world - 1, 0}; },
     [](int world, bool keep) { return ExpectedRotation::Moves{keep ? 0 : world - 1, world - 1, std::max(0, world - 2)}; },
     [](int world) -> int64_t { return world + 1; }, [](int world) -> int64_t { return world; },
     [](int world, int terms) -> int64_t { return world == 1 ? 0 : terms < 2 ? terms : 3; },
     everybody_else, everybody_else}};

}  // namespace
}  // namespace ringcheck::parity
