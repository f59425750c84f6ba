// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace ringcheck::cli {

// Throws UsageError where the file cannot be read or is no JSON.
nlohmann::json read_json(const std::string& path);

}  // namespace ringcheck::cli
