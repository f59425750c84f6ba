// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/doctor/finding.h"

namespace ringcheck::cli {

// Cores that a cgroup's "200000 100000" (cpu.max) grants; nothing for "max 100000" and for what
// cannot be read.
std::optional<double> parse_quota(const std::string& text);
// Bytes of memory.max; nothing for "max".
std::optional<double> parse_limit(const std::string& text);

// Bytes that this process may use at most: those of the host, or fewer by its cgroup.
double host_memory();

// Cores, memory, shared memory and limits of this process.
Examined examine_host();

}  // namespace ringcheck::cli
