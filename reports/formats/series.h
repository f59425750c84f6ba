// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/result.h"

namespace ringcheck::reports {

// Of what it is: the benchmark's name where it has one, else its parts, "P=4 kernel=plain"; both where
// several measurements of a metric bear one name. A part in which all of the result agree is left out.
std::vector<std::string> subjects_of(const Result& result);

// What a reader of JSON numbers can take: the samples that are finite, and their middle and ends.
struct Sampled {
  std::vector<double> samples;
  double least = 0, median = 0, most = 0;
};
Sampled sampled(const Measurement& series);

// With four significant digits.
std::string significant(double value);

// Letters, digits and this sign between them, in small letters: "FLOP/s" is flop-s.
std::string slug(const std::string& text, char between);

}  // namespace ringcheck::reports
