// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cli/subcommand.h"

namespace ringcheck::cli {

// What `ringcheck report NAME` does: likewise a file each.
struct ReportCommand {
  Subcommand declare;
};
using ReportCommands = Registry<ReportCommand>;

inline constexpr int64_t kMostRuns = 1'000'000;  // that may be asked for in numbers

}  // namespace ringcheck::cli
