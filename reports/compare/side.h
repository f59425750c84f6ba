// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "reports/result.h"

namespace ringcheck::reports {

// These results cannot be compared: says what differs, and what to do.
class Incomparable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Runs of one build.
struct Side {
  std::vector<std::string> names;  // of files, or of runs in a history
  std::vector<Result> runs;
};

// Which differences are none.
struct Ignored {
  bool machines = false;
  std::set<std::string> parts;  // of cases and measurements
};

// Throws Incomparable where kinds or machines differ, or a result has neither cases nor measurements.
void check_comparable(const Side& base, const Side& new_, const Ignored& ignored);

// By what a case, or a series of measurements, is found on the other side.
std::string key_of(const CaseResult& test, const Ignored& ignored);
std::string key_of(const Measurement& one, const Ignored& ignored);

}  // namespace ringcheck::reports
