// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace ringcheck::parity {

// Folders of files that belong together (docs/files.md): manifest.json says of which format and
// version they are, and has the size and SHA-1 of every file that it names, and its own.
struct Format {
  std::string name;     // "ringcheck-bundle"
  int version = 1;
  std::string made_by;  // the command that writes one
};

// Writes manifest.json of `content`, whose member `files` names those that lie in the folder already.
void write_manifest(const std::string& folder, const Format& format, nlohmann::json content);

// What write_manifest was given, where `files` is an object by name. Throws BadCase where it is not of
// this format and version, or was changed.
nlohmann::json read_manifest(const std::string& folder, const Format& format);

// Every file that the manifest names is there as it was written, or BadCase says which is not.
void check_files(const std::string& folder, const Format& format, const nlohmann::json& manifest);

// With another member at its top.
void add_to_manifest(const std::string& folder, const Format& format, const std::string& name,
                     const nlohmann::json& value);

// The hexadecimal SHA-1 of a text.
std::string checksum(const std::string& bytes);

}  // namespace ringcheck::parity
