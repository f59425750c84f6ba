// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace ringcheck {

// A running host: containers on it have names of their own, but it was booted once.
struct Host {
  std::array<char, 64> name = {}, boot = {};
};
Host this_host();

// Two ranks that are on different hosts, in words; nothing where there are none.
std::optional<std::string> on_several_hosts(const std::vector<Host>& of_ranks);

}  // namespace ringcheck
