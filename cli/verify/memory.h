// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parity/case/case.h"

namespace ringcheck::cli {

// What a machine has, whoever else uses it at the moment; in bytes.
struct Memory {
  double host = 0;  // 0: nobody can say
  int gpus = 0;
  double gpu = 0;  // of the smallest; 0: nobody can say
};

// Bytes that a case needs at least: the problem as a whole and as the shards of `ranks`, what they
// compute, in the dtype and wider, and the outcome that is judged. The truth in float64 comes on top,
// a part at a time.
double least_bytes(const parity::Case& test, int ranks);

// Why a case does not fit, with the estimate, the limit and the fix; or nothing. `ranks` of it are on
// this host. What needs just what there is fits.
std::optional<std::string> too_large(const parity::Case& test, int ranks, const Memory& memory);

}  // namespace ringcheck::cli
