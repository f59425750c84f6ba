// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parity/case/conditions/cover.h"

namespace ringcheck::cli {

// A named, fixed list of cases for a device: the same on every machine that has one.
struct Profile {
  std::string says;
  std::optional<parity::Minima> minima;                                      // of its coverage
  std::function<std::vector<parity::Case>(const std::string& device)> pool;  // what it chooses from
  std::function<std::vector<parity::Case>(const std::string& device, const parity::Combinations&)>
      choose;
};
const std::map<std::string, Profile>& profiles();
// Throws UsageError on an unknown name.
const Profile& profile(const std::string& name);

std::vector<parity::Case> cases_of(const Profile& profile, const std::string& device);

// `count` random cases that are right as far as anybody knows, every part drawn.
std::vector<parity::Case> clean_cases(int64_t count, uint64_t seed, const std::string& device);

}  // namespace ringcheck::cli
