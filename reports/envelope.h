// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "reports/result.h"

// The form of every JSON file that the programs write: schema_version, kind, environment, and what
// the kind has.
namespace ringcheck::reports {

// What is made of a file takes ten times as many.
inline constexpr uintmax_t kMostBytes = uintmax_t{1} << 30;

// What a file, or a line of it, says. Throws std::invalid_argument where it is no JSON, names a member
// twice, or is nested deeper than 100 levels: a result takes ten.
nlohmann::json parse_json(std::string_view text);

// What the JSON library says, without the number of its message.
std::string words_of(const std::exception& error);

nlohmann::json envelope(Kind kind, const Environment& environment);
// With the member of its name.
nlohmann::json envelope(Kind kind, const Environment& environment, const nlohmann::json& own);

// What a file has of its own. Throws std::invalid_argument where it is of another kind or of a
// version that this program does not read.
const nlohmann::json& own_member(const nlohmann::json& file, Kind kind);

// The kind of a file; before there were kinds, verify. Throws std::invalid_argument where it is of
// no version that this program reads.
Kind kind_of(const nlohmann::json& file);

// As it is written: an element of an array takes a line, so that files can be compared and searched
// by line. Bytes that are no UTF-8 are replaced.
std::string file_text(const nlohmann::json& file);

// write_file of file_text.
void write_json(const std::string& path, const nlohmann::json& file);

}  // namespace ringcheck::reports
