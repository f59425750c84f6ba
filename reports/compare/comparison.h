// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "reports/compare/correctness.h"
#include "reports/compare/speed.h"
#include "reports/waivers.h"

namespace ringcheck::reports {

// BASE against NEW: docs/results.md, "Comparisons".
struct Comparison {
  Side base, new_;
  SpeedQuestion question;
  Correctness correctness;
  Speeds speeds;

  // All of both, what is worse first.
  std::vector<Change> changes() const;
};

// Marks what is borne, and adds what no longer holds.
void apply(const Waivers& waivers, Comparison& comparison);

// Throws Incomparable, also where the sides have nothing in common.
Comparison compare(Side base, Side new_, const Ignored& ignored, const SpeedQuestion& question);

// Of what is worse and not waived: 5, 1, 4, 3, 6 in this order; 0 where nothing is, and 77 where
// nothing was judged.
int exit_code(const Comparison& comparison);

// Nothing is worse, or what is, in a line: "2 newly fail, 1 slower".
std::string headline(const Comparison& comparison);

std::string console_text(const Comparison& comparison);
std::string markdown_text(const Comparison& comparison);
nlohmann::json to_json(const Comparison& comparison);

}  // namespace ringcheck::reports
