// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "parity/case/case.h"

namespace ringcheck::cli {

// A named, fixed list of cases for a device: the same on every machine that has one.
struct Profile {
  std::string says;
  std::function<std::vector<parity::Case>(const std::string& device)> cases;
};
const std::map<std::string, Profile>& profiles();
// Throws UsageError on an unknown name.
const Profile& profile(const std::string& name);

// `count` random cases that are right as far as anybody knows, every part drawn.
std::vector<parity::Case> clean_cases(int64_t count, uint64_t seed, const std::string& device);

}  // namespace ringcheck::cli
