// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parity/subject/subject.h"

namespace ringcheck::parity {

std::vector<std::string> oracles_of_one_run();
std::vector<std::string> all_oracles();

// Who judges, and how thoroughly.
struct Judging {
  // The names of the oracles; by default all that are content with one run of the subject.
  std::vector<std::string> oracles = oracles_of_one_run();
  // Queries and keys of each head that parity judges, where the sequence is longer; 0: all.
  int64_t sample = 0;
  // Beside them those that the case draws.
  bool drawn = false;
  // A folder that has, and gets, what parity judged of each (batch, kv head) pair (Kept); empty: none.
  std::string kept = {};
};

// Of the oracles that ask for further runs those that a small case draws: each in one of `one_in` cases
// to which it applies, by a hash of its name and the text of the case, so that the case alone
// reproduces them. None where the case is large: its further runs would take as long as itself.
std::vector<std::string> drawn_oracles(const Case& test, const Subject& subject);

// All that are asked of a case.
std::vector<std::string> oracles_for(const Judging& judging, const Case& test,
                                     const Subject& subject);

}  // namespace ringcheck::parity
