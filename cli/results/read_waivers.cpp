// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/results/read_waivers.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/environment.h"
#include "cli/read_json.h"
#include "cli/usage_error.h"
#include "parity/case/text/nearest.h"
#include "parity/judge/runner.h"

namespace ringcheck::cli {
namespace {

void check_oracle(const std::string& finding, size_t number) {
  if (!reports::is_of_one_run(finding)) return;
  const std::string word = finding.substr(0, finding.find(':'));
  if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") != std::string::npos) return;
  std::vector<std::string> known = parity::all_oracles();
  known.insert(known.end(), {"crash", "fail", "hang"});
  if (std::ranges::find(known, word) == known.end())
    throw std::invalid_argument("waiver " + std::to_string(number) + ": " + parity::unknown_name("oracle", word, known));
  const std::string rest = finding.substr(word.size());
  if (!rest.empty() && !rest.starts_with(": ") && !rest.starts_with(":*"))
    throw std::invalid_argument("waiver " + std::to_string(number) + ": '" + finding + "' has no space behind the colon, and would match nothing; want " +
                                word + ": " + rest.substr(1));
}

}  // namespace

reports::Waivers read_waivers(const std::string& path) {
  constexpr size_t kDay = 10;  // of 2026-11-22T05:28:01Z
  const nlohmann::json json = read_json(path, "want {\"waivers\": [...]}");
  try {
    reports::Waivers waivers(json, environment().started.substr(0, kDay));
    size_t number = 0;
    for (const nlohmann::json& entry : json.at("waivers")) check_oracle(entry.at("finding"), ++number);
    return waivers;
  } catch (const std::invalid_argument& error) {
    throw UsageError("'" + path + "' is no file of waivers: " + error.what());
  }
}

}  // namespace ringcheck::cli
