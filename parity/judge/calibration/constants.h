// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "parity/judge/calibration/arithmetic.h"
#include "parity/subject/promise.h"

// What a numerics contract, as JSON, takes over from what was measured.
namespace ringcheck::parity {

// What was seen of a kernel in a dtype, for `measured` of its contract: with c_e and kappa of each pass
// as far as they can be seen through the rounding of its results. Throws BadCase where the kernel is
// coarser than the contract promises.
nlohmann::json measured_in(const std::string& dtype, const Arithmetic& found,
                           const nlohmann::json& contract);

// Puts the constants that were measured in place of those that stood: c_e is the power of two at or above
// the largest of all architectures, kappa the smallest. What was not measured on every architecture may
// not become stricter, and kappa of a CPU is 1: its sums follow the width of the vectors of the machine.
void take_constants(nlohmann::json& contract);

// The promise with c_e and kappa of this contract.
void promise_constants(const nlohmann::json& contract, at::ScalarType dtype, Promise& promise);

}  // namespace ringcheck::parity
