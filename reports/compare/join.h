// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/result.h"

namespace ringcheck::reports {

// One result of runs of one program on one machine, in one of two ways. Runs of the same series: each series has
// the median of each run as a sample, since what the samples of one run have in common is no property of
// the code. Runs that have no series and no case in common, as tables of their own: they stand beside each other
// with all their samples. Throws std::invalid_argument, with the name of a run, where they do not belong together:
// another kind, commit or machine, some series in common and others not, another verdict of a case, or both ways at once.
Result join(const std::vector<Result>& runs, const std::vector<std::string>& names);

}  // namespace ringcheck::reports
