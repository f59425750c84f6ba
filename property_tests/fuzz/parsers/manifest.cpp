// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// As `ringcheck replay` and `ringcheck judge` read it, with a checksum of its own that is right: else it
// would refuse all that a search thinks of.
#include "parity/subject/files/manifest.h"

#include <ATen/ATen.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/bundle/bundle.h"
#include "cli/process/folder.h"
#include "cli/read_json.h"
#include "parity/case/case.h"
#include "parity/judge/recorded/recording.h"
#include "parity/subject/files/cases_folder.h"
#include "parity/subject/subject.h"
#include "property_tests/fuzz/parser.h"

namespace ringcheck::fuzz {
namespace {

using nlohmann::json;

// A folder with the files of a failed case, whose manifest is in memory.
class Place {
 public:
  Place() {
    const parity::Case test = parity::parse_case("P2/b1/hq1/hkv1/s8/d2/dv2/float32");
    parity::Recording recording{test, {"parity", "repetition"}, 0, parity::problem_of(test), {}, {}};
    parity::Outcome& outcome = recording.observed.outcome;
    outcome.tensors.o = at::ones({1, 1, 8, 2});
    outcome.ranks.resize(2);
    recording.observed.variations["repetition"] = {outcome};
    recording.observed.no_variations["leak"] = "why";
    recording.promises[parity::to_text(test)] = parity::subject_of(test)->promise(test);
    json content = parity::write_recording(folder_.path(), recording);
    const json smoke = json::parse(committed("reports/results/cpu_smoke.json"));
    content["environment"] = smoke.at("environment");
    content["result"] = smoke.at("cases").front();
    for (const char* member : {"oracles", "ranks"}) content["result"][member] = json::array();
    content["cpu_capability"] = "DEFAULT";
    parity::write_manifest(folder_.path(), cli::kBundle, std::move(content));
    bundle_ = cli::read_text(manifest(), "the manifest just written");
    std::filesystem::remove(manifest());
    std::filesystem::create_symlink(file_of(""), manifest());
  }

  const std::string& bundle() const { return bundle_; }
  std::string with(const std::string& text) const {
    file_of(text);
    return folder_.path();
  }

  static const Place& here() {
    static const Place one;
    return one;
  }

 private:
  std::string manifest() const { return folder_.file("manifest.json"); }

  cli::TemporaryFolder folder_;
  std::string bundle_;
};

// By somebody who knows how.
std::string signed_text(json content) {
  content.erase("sha1");
  content["sha1"] = parity::checksum(content.dump(-1, ' ', false, json::error_handler_t::replace));
  return content.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool parse(const std::string& text) {
  const json content = json::parse(text, nullptr, false);
  const std::string folder = Place::here().with(content.is_object() ? signed_text(content) : text);
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
  const json cases{{"format", "ringcheck-cases"},
                   {"schema_version", 1},
                   {"files", json::object()},
                   {"cases", {{{"case", "headtail/causal/P2/s8"}, {"ranks", json::array()}}}}};
  return {cases.dump(), Place::here().bundle()};
}

const Parsers::Add add{"manifest", {parse, seeds}};

}  // namespace
}  // namespace ringcheck::fuzz
