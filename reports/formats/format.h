// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include "reports/result.h"

namespace ringcheck::reports {

// A result as readers that are no programs of ours want it.
struct Format {
  std::string reader;             // who reads it, for --help
  bool wants_cases = false, wants_measurements = false;  // with neither: either will do
  std::function<std::string(const Result&)> text;
};

// By name. docs/results.md, "Formats".
const std::map<std::string, Format>& formats();

// A file each.
std::string bencher(const Result& result);
std::string google_benchmark(const Result& result);
std::string openmetrics(const Result& result);
std::string superbench(const Result& result);
// Of those of which smaller values, or larger ones, are better.
std::string github_action_benchmark(const Result& result, const std::string& better);

}  // namespace ringcheck::reports
