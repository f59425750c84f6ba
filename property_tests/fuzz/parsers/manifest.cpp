// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// As `ringcheck replay` and `ringcheck judge` read it, with a checksum of its own that is right: else it
// would refuse all that a search thinks of.
#include "parity/subject/files/manifest.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/bundle/bundle.h"
#include "cli/process/folder.h"
#include "parity/case/case.h"
#include "parity/subject/files/cases_folder.h"
#include "property_tests/fuzz/parser.h"

namespace ringcheck::fuzz {
namespace {

using nlohmann::json;

// A folder whose manifest is this text, in memory.
std::string folder_of(const std::string& text) {
  static const cli::TemporaryFolder folder;
  static const bool linked = [&] {
    std::filesystem::create_symlink(file_of(text), folder.file("manifest.json"));
    return true;
  }();
  demand(linked, "there is a manifest");
  file_of(text);
  return folder.path();
}

// By somebody who knows how.
std::string signed_text(json content) {
  content.erase("sha1");
  content["sha1"] = parity::checksum(content.dump(-1, ' ', false, json::error_handler_t::replace));
  return content.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool parse(const std::string& text) {
  const json content = json::parse(text, nullptr, false);
  const std::string folder = folder_of(content.is_object() ? signed_text(content) : text);
  try {
    if (content.is_object() && content.value("format", json()) == cli::kBundle.name) {
      cli::read_bundle(folder);
    } else {
      parity::check_files(folder, parity::kCases, parity::read_manifest(folder, parity::kCases));
      parity::read_cases(folder, {});
    }
  } catch (const parity::BadCase&) {
    return false;
  }
  return true;
}

std::vector<std::string> seeds() {
  const json listed{{"a", {{"bytes", 1}, {"sha1", "0"}}}};
  const json cases{{"format", "ringcheck-cases"},
                   {"schema_version", 1},
                   {"files", json::object()},
                   {"cases", {{{"case", "headtail/causal/P2/s8"}, {"ranks", json::array()}}}}};
  const json bundle{{"format", "ringcheck-bundle"}, {"schema_version", 1},
                    {"case", "P2/s8"},              {"oracles", {"parity"}},
                    {"sample", 0},                  {"further_runs", {{"worlds", 1}}},
                    {"no_further_runs", {{"leak", "why"}}},
                    {"promises", {{"P2/s8", {{"partials", 2}}}}},
                    {"files", listed}};
  return {cases.dump(), bundle.dump()};
}

const Parsers::Add add{"manifest", {parse, seeds}};

}  // namespace
}  // namespace ringcheck::fuzz
