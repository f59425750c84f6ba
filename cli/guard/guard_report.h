// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <iosfwd>
#include <string>

#include "cli/guard/guarded.h"
#include "reports/result.h"

namespace ringcheck::cli {

// What people read.
void print(const Guarded& all, std::ostream& screen);

// The member `guard` of a result file.
nlohmann::json to_json(const Guarded& all, const GuardQuestion& question);

// A case for each law, and one for what is wrong whatever the laws say, as JUnit takes them.
reports::Result cases_of(const Guarded& all, const std::string& command);

}  // namespace ringcheck::cli
