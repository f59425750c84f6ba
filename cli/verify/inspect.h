// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parity/case/case.h"

namespace ringcheck::cli {

// In a worker: reads the user's tensors and prints what a case needs to know of them as a line of
// JSON: the parts of the case, or what is wrong. Returns the exit code.
int print_inspection(const std::string& path);

// In the supervisor, which touches no tensors: asks a worker. Sets shapes, dtype and data of a
// case; throws UsageError on a file that cannot be used.
void set_from_tensors(const std::string& path, parity::Case& test);

// In a worker: loads a plug-in and asks it for its subject. Whether it is one, who loads it next says.
int load_plugin(const std::string& library);

// In the supervisor: has a worker load every plug-in that the texts of subjects and cases name, once, for code
// of others may end or hold up whoever loads it. Throws UsageError where it does.
void check_plugins(const std::vector<std::string>& texts);

}  // namespace ringcheck::cli
