// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <string>

namespace ringcheck::parity {

// Whether a device tallies random elements, some of them infinite, NaN, equal, or without an error
// allowed, as the CPU does: extremes and their places exactly, sums to rounding. Says the first figure
// that differs, in words; nothing where there is none.
std::optional<std::string> tally_difference(at::Device device, uint64_t seed);

}  // namespace ringcheck::parity
