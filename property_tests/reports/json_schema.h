// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace ringcheck::testing {

// Where and how a document breaks a JSON Schema; empty where it does not. Knows the keywords that
// our schemas use, and says so where it meets another one.
std::vector<std::string> schema_violations(const nlohmann::json& schema,
                                           const nlohmann::json& document);

}  // namespace ringcheck::testing
