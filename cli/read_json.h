// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace ringcheck::cli {

// All of a regular file. Throws UsageError where it cannot be read, or has more than 1 GiB; `want`
// says what for.
std::string read_text(const std::string& path, const std::string& want);

// How many, to 2^53. Throws std::invalid_argument where `value` is no count; `of` says of what.
int64_t count_in(const nlohmann::json& value, const std::string& of);

// Throws UsageError where the file cannot be read or reports::parse_json refuses it; `fix` says what
// would be right.
nlohmann::json read_json(const std::string& path,
                         const std::string& fix = "name a file that ringcheck has written");

}  // namespace ringcheck::cli
