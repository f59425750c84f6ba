// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/one_host.h"

#include <unistd.h>

#include <fstream>

namespace ringcheck {

Host this_host() {
  Host host;
  ::gethostname(host.name.data(), host.name.size() - 1);
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  if (!std::getline(file, boot)) boot = host.name.data();
  boot.copy(host.boot.data(), host.boot.size() - 1);
  return host;
}

std::optional<std::string> on_several_hosts(const std::vector<Host>& of_ranks) {
  for (size_t rank = 1; rank < of_ranks.size(); ++rank)
    if (of_ranks[rank].boot != of_ranks[0].boot)
      return std::string("rank 0 is on host ") + of_ranks[0].name.data() + ", rank " +
             std::to_string(rank) + " on host " + of_ranks[rank].name.data();
  return std::nullopt;
}

}  // namespace ringcheck
