// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parity/judge/conservation/conservation.h"

// Where a broken law is broken, from the sums of each part of the sequence: of a rank, or a file.
namespace ringcheck::parity {

using Parts = std::vector<ConservationSums>;

ConservationSums sum(const Parts& parts);

// What each part adds to the difference of law `law` (0: C1), as a share of it, over the heads and
// channels that break it, each weighed by what rounding explains there. They sum to 1; parts that
// are right scatter around 0, as the laws hold over all parts together only. Empty where none breaks.
std::vector<double> shares_of(size_t law, const Parts& parts, const Arithmetic& how);

// What a part gives away by itself: a tensor that is zero everywhere, or not finite.
std::vector<std::string> suspects(const std::string& part, const ConservationSums& sums);

// Does each of several parts keep all laws alone? Then no query of one is seen to attend to a key of
// another.
bool isolated(const Parts& parts, const Arithmetic& how);

}  // namespace ringcheck::parity
