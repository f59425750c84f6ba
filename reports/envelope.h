// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "reports/result.h"

// The form of every JSON file that the programs write: schema_version, kind, environment, and what
// the kind has.
namespace ringcheck::reports {

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
