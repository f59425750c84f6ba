// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/judging.h"

#include <c10/util/hash.h>

#include <algorithm>

#include "parity/case/conditions/cover.h"
#include "parity/judge/oracle.h"

namespace ringcheck::parity {
namespace {

constexpr int64_t kSmall = 1600;  // 1000 is the least that any case costs

bool is_small(const Case& test) { return cost_of(test) <= kSmall; }

// The same number on every machine.
uint64_t hash_of(const std::string& text) {
  return std::stoull(c10::sha1(text).str().substr(0, 8), nullptr, 16);
}

bool applies(const Oracle& oracle, const Case& test, const Subject& subject) {
  if (!oracle.variations || oracle.demand.unmet(subject.promise(test))) return false;
  const std::vector<Run> runs = oracle.variations(test);
  return !runs.empty() &&
         std::ranges::none_of(runs, [&](const Run& run) { return refuses(run, subject).has_value(); });
}

}  // namespace

std::vector<std::string> all_oracles() {
  std::vector<std::string> names;
  for (const auto& [name, oracle] : Oracles::all()) names.push_back(name);
  return names;
}

std::vector<std::string> oracles_of_one_run() {
  std::vector<std::string> names = all_oracles();
  std::erase_if(names, [](const std::string& name) { return Oracles::at(name).variations != nullptr; });
  return names;
}

std::vector<std::string> drawn_oracles(const Case& test, const Subject& subject) {
  std::vector<std::string> names;
  if (!is_small(test)) return names;
  const std::string text = to_text(test);
  for (const auto& [name, oracle] : Oracles::all())
    if (hash_of(name + " " + text) % static_cast<uint64_t>(oracle.one_in) == 0 &&
        applies(oracle, test, subject))
      names.push_back(name);
  return names;
}

std::vector<std::string> oracles_for(const Judging& judging, const Case& test,
                                     const Subject& subject) {
  std::vector<std::string> names = judging.oracles;
  if (judging.drawn)
    for (std::string& name : drawn_oracles(test, subject))
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  return names;
}

}  // namespace ringcheck::parity
