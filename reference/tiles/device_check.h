// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <string>

namespace ringcheck::reference {

// Holds a device to what it stands for, on random problems with every mask. O, LSE and row maximum, by
// a fast path where one applies, and dQ, dK and dV as they are computed beside their bounds may differ
// from those of the plain form by the worst case of float64 arithmetic; the error bounds and variances
// are those of the CPU. Says the first difference in words; nothing where there is none.
std::optional<std::string> device_difference(at::Device device, uint64_t seed);

}  // namespace ringcheck::reference
