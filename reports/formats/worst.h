// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>

#include "reports/result.h"

namespace ringcheck::reports {

// How near a tensor came to what its oracle allows, over all cases; NaN is larger than everything.
struct Worst {
  double error = 0, sigmas = 0, blind = 0;  // over its bound; in standard deviations; share
  std::string test;                         // where the error is
};

// By oracle and tensor.
std::map<std::pair<std::string, std::string>, Worst> worst_of(const Result& result);

}  // namespace ringcheck::reports
