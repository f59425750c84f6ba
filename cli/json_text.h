// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace ringcheck::cli {

// An object with one more member, an array whose elements take a line each.
std::string text_with_lines(const nlohmann::json& object, const std::string& member,
                            const nlohmann::json& elements);

// Throws UsageError where the file cannot be read or is no JSON.
nlohmann::json read_json(const std::string& path);

}  // namespace ringcheck::cli
