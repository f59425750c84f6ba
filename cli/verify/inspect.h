// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "parity/case/case.h"

namespace ringcheck::cli {

// In a worker: reads the user's tensors and prints what a case needs to know of them as a line of
// JSON: the parts of the case, or what is wrong. Returns the exit code.
int print_inspection(const std::string& path);

// In the supervisor, which touches no tensors: asks a worker. Sets shapes, dtype and data of a
// case; throws UsageError on a file that cannot be used.
void set_from_tensors(const std::string& path, parity::Case& test);

}  // namespace ringcheck::cli
