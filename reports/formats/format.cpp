// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/format.h"

#include "reports/formats/markdown.h"
#include "reports/formats/junit.h"
#include "reports/formats/verdict.h"

namespace ringcheck::reports {

const std::map<std::string, Format>& formats() {
  const auto github = [](const char* better) {
    return [better](const Result& result) { return github_action_benchmark(result, better); };
  };
  static const std::map<std::string, Format> all{
      {"bencher", {"bencher run --adapter json", false, true, bencher}},
      {"github-action-benchmark-larger", {"tool: customBiggerIsBetter", false, true, github("larger")}},
      {"github-action-benchmark-smaller", {"tool: customSmallerIsBetter", false, true, github("smaller")}},
      {"google-benchmark", {"compare.py of Google Benchmark", false, true, google_benchmark}},
      {"junit", {"test reports of CI systems", true, false, [](const Result& result) { return junit(result); }}},
      {"markdown", {"people: a job summary", false, false,
                    [](const Result& result) { return markdown(result, exit_code_of(result), {}); }}},
      {"openmetrics", {"Prometheus, GitLab", false, false, openmetrics}},
      {"superbench", {"SuperBench: results-summary.jsonl", false, false, superbench}},
  };
  return all;
}

}  // namespace ringcheck::reports
