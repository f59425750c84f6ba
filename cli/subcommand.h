// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

#include "cli/usage_error.h"
#include "cp/registry.h"
#include "reports/exit_codes.h"

namespace ringcheck::cli {

// What `ringcheck NAME` does: adds its options to the program, and returns what runs it; that
// returns the exit code. Adding a subcommand is one file.
using Subcommand = std::function<std::function<int()>(CLI::App&)>;
using Subcommands = Registry<Subcommand>;

}  // namespace ringcheck::cli
