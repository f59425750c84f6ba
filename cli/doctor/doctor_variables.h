// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "cli/doctor/finding.h"

namespace ringcheck::cli {

using Variables = std::map<std::string, std::string>;

// Variables of the environment that change results or speed.
Examined examine_variables(const Variables& variables);

// Those of this process.
Variables own_variables();

}  // namespace ringcheck::cli
