// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/result.h"

namespace ringcheck::cli {

// Version, commit, LibTorch, MPI, compiler: a line each.
std::string version_text();

// The machine and the program; without launcher, transport and wall time. Asks neither MPI nor
// LibTorch at run time.
reports::Environment environment();

}  // namespace ringcheck::cli
