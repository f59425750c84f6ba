// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringcheck::parity {

// `count` of 0 ... length - 1, each set of them alike likely, increasing; a function of its
// arguments alone (Floyd's algorithm on the 64-bit Mersenne twister). All where count >= length.
std::vector<int64_t> drawn_positions(int64_t length, int64_t count, uint64_t seed);

// How likely such a sample misses a block of the positions, for blocks of several sizes, in words:
// (1 - f)^count where it is a share f of them.
std::string chance_to_miss(int64_t count);

}  // namespace ringcheck::parity
