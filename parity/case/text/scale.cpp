// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/text/scale.h"

#include <cmath>

#include "parity/case/text.h"

namespace ringcheck::parity {
namespace {

// Scores so far apart that one key takes all, or none, round to nothing that could be judged.
constexpr double kLargestScale = 1e4, kSmallestScale = 1e-30;

}  // namespace

void check_scale(double scale) {
  const double size = std::abs(scale);
  if (size == 0 || (size >= kSmallestScale && size <= kLargestScale)) return;
  throw BadCase("scale " + number_text(scale) + " is neither 0 nor from " + number_text(kSmallestScale) + " to " +
                number_text(kLargestScale) + ", with either sign; use one that is");
}

}  // namespace ringcheck::parity
