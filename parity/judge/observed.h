// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parity/subject/world.h"

namespace ringcheck::parity {

// What a subject did: in the run of a case, and in the others that oracles asked for, and how long
// these took.
struct Observed {
  Outcome outcome;
  std::map<std::string, std::vector<Outcome>> variations;  // by oracle
  std::map<std::string, std::string> no_variations;  // why an oracle has none
  std::map<std::string, double> seconds;
};

// Everything that a subject is asked to do for these oracles, on every process of the world; what it
// did is known on the first one, its timelines only of the run of the case, where they are wanted.
// Collective.
std::optional<Observed> observe(const Case& test, const Subject& subject, World& world,
                                const std::vector<std::string>& oracles, bool timelines = false);

// Peak bytes of a rank by the closed forms: for the message where memory runs out.
int64_t modelled_bytes(const Case& test, int rank);

}  // namespace ringcheck::parity
