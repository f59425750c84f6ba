// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "reports/result.h"

namespace ringcheck::cli {

// A result as the run that wrote it printed it, where it has cases, and what it measured.
void print_result(const reports::Result& result, std::ostream& screen);

}  // namespace ringcheck::cli
