// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace ringcheck::testing {

// Where and how a document breaks a JSON Schema (draft 7), "/cases/0/verdict: 'perfect' is not one
// of [...]"; empty where it does not. Python's jsonschema judges, Debian's python3-jsonschema;
// throws std::runtime_error where it is missing, and where the schema is none.
std::vector<std::string> schema_violations(const nlohmann::json& schema,
                                           const nlohmann::json& document);

}  // namespace ringcheck::testing
