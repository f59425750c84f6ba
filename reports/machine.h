// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "reports/result.h"

namespace ringcheck::reports {

// What must agree between two runs for their speeds to be comparable, by the names of `environment`.
// The host is not among it: machines of one kind have many names.
std::map<std::string, std::string> machine_of(const Environment& environment);

// The members that differ, each as "cpu 'A' against 'B'".
std::vector<std::string> differences(const std::map<std::string, std::string>& a,
                                     const std::map<std::string, std::string>& b);

}  // namespace ringcheck::reports
