// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

#include "cli/usage_error.h"
#include "cp/registry.h"

namespace ringcheck::cli {

// What `ringcheck NAME` does: adds its options to the program, and returns what runs it; that
// returns the exit code. Adding a subcommand is one file.
using Subcommand = std::function<std::function<int()>(CLI::App&)>;
using Subcommands = Registry<Subcommand>;

namespace exit_codes {
inline constexpr int kWrong = 1;
inline constexpr int kUsage = 2;
inline constexpr int kDead = 5;  // the subject hung or crashed
inline constexpr int kInconclusive = 6;
inline constexpr int kSelfTest = 70;
inline constexpr int kNothingRan = 77;
}  // namespace exit_codes

}  // namespace ringcheck::cli
