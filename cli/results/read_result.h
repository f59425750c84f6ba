// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "reports/history/run.h"

namespace ringcheck::cli {

// The result in a file, for a history or a comparison. Throws UsageError.
reports::Run read_run(const std::string& path);

// A run of a history as a result. Throws UsageError where it is a summary: that has no case to show or
// compare.
reports::Result whole_result(const std::string& name, const nlohmann::json& file);

// One that has cases, as `report` prints it. Throws UsageError.
reports::Result read_result_with_cases(const std::string& path);

}  // namespace ringcheck::cli
