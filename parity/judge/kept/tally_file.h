// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parity/judge/tally.h"

namespace ringcheck::parity {

struct KeptTallies {
  std::vector<Tally> tallies;  // one of kTensors each
  double seconds = 0;          // that judging took
};

// Nothing where there is no such file, or it is not as it was written.
std::optional<KeptTallies> read_tallies(const std::string& path);

// Throws BadCase where it cannot be written.
void write_tallies(const std::string& path, const KeptTallies& kept);

}  // namespace ringcheck::parity
