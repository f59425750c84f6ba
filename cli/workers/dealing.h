// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "parity/case/case.h"

namespace ringcheck::cli {

// It takes little memory to judge it.
bool is_small(const parity::Case& test);

// How long it takes on one core, roughly.
double seconds_of(const parity::Case& test);

// Who runs which cases, by their index: the large ones one after the other, each with all of the
// machine, and as many hands of small ones as there are workers, all of about the same length and
// each with what takes longest first.
struct Dealt {
  std::vector<size_t> large;
  std::vector<std::vector<size_t>> hands;  // none is empty
};
Dealt deal(const std::vector<parity::Case>& cases, const std::vector<size_t>& indexes,
           size_t workers);

}  // namespace ringcheck::cli
