// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/verify/selection.h"

namespace ringcheck::cli {

// Prints how many of the cases meet each condition, and how many were wanted: a whole profile has
// minima. 1 where a minimum is not met, else 0. Throws UsageError where parts select among the
// cases of a profile.
int report_coverage(const Asked& asked, const Selection& selection);

}  // namespace ringcheck::cli
