// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <set>
#include <string>
#include <vector>

#include "cli/verify/selection.h"

namespace ringcheck::cli {

// What a command that works on cases is told of them.
struct CaseOptions {
  PartLists lists;  // of the parts of a case, as typed
  std::vector<std::string> models;
  Asked asked;
};

// Adds the options to a program: those of the parts of a case but for these, and of the ways to name
// cases.
void add_case_options(CLI::App& program, CaseOptions& options, const std::set<std::string>& without = {});

Asked asked_of(const CaseOptions& options);

}  // namespace ringcheck::cli
