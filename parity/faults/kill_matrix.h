// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parity/faults/cell.h"

namespace ringcheck::parity {

// How planted bugs are hunted.
struct Hunt {
  std::vector<std::string> oracles;  // in the matrix
  bool ask_all = false;  // those with further runs, too, where a cheaper oracle has killed already
  std::string kernel = "plain", device = "cpu";
  std::string profile = {};      // in its cases, `among`, and not in those of the fault
  bool drawn = false;            // of a profile: beside the oracles those that a case draws
  std::vector<Case> among = {};
};

// Why a fault cannot show at all, or nothing.
std::string cannot_show(const Fault& fault, at::ScalarType dtype, const Hunt& hunt);

// Plants a fault in each of its cases, and runs and judges the same cases without it. Oracles that
// know the exact answer for some data are asked about the same cases with such data.
Cell hunt(const std::string& fault, at::ScalarType dtype, const Hunt& hunt);

}  // namespace ringcheck::parity
