// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

#include "cli/case_options.h"
#include "cli/verify/selection.h"
#include "cli/verify/verify_report.h"

namespace ringcheck::cli {

// What `ringcheck verify` is asked.
struct VerifyOptions {
  CaseOptions cases;
  Telling telling;
  std::optional<double> deadline;  // seconds
  std::optional<std::string> sample;
  std::string planted;  // a fault of the judging
  std::string waivers;  // a file
  std::string bundle, resume;  // folders
  std::string transport;
  std::optional<int> jobs;
  bool list = false, coverage = false;
};

void add_options(CLI::App& program, VerifyOptions& options);

// Throw UsageError: what can be known before cases are chosen, and after.
void check(const VerifyOptions& options);
void check(const VerifyOptions& options, const Selection& selection);

}  // namespace ringcheck::cli
