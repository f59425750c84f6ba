// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/result.h"

namespace ringcheck::reports {

// The middle one, or the mean of the two; NaN where one is NaN, or there is none.
double median(std::vector<double> values);

std::vector<double> numbers(const std::vector<Figure>& figures);

}  // namespace ringcheck::reports
