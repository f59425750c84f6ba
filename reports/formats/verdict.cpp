// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/verdict.h"

#include "reports/text.h"

namespace ringcheck::reports {

int exit_code_of(const Result& result) {
  if (has_cases(result.kind)) return exit_code(result.cases);
  return result.measurements.empty() ? 77 : 0;
}

std::string verdict_word(int exit_code) {
  switch (exit_code) {
    case 0:
      return "PASS";
    case 1:
    case 5:
      return "FAIL";
    case 4:
      return "FAIL (counters only)";
    case 6:
      return "INCONCLUSIVE";
    default:
      return "NOTHING RAN";
  }
}

std::vector<std::pair<std::string, int64_t>> counts_of(const Result& result) {
  const Summary& sum = result.summary;
  if (!has_cases(result.kind)) return {};
  return {{"passed", sum.passed},   {"failed", sum.failed},
          {"hang", sum.hang},       {"crash", sum.crash},
          {"inconclusive", sum.inconclusive}, {"not_supported", sum.not_supported},
          {"skipped", sum.skipped}};
}

std::string counts_text(const Result& result) {
  const Summary& sum = result.summary;
  std::string text = std::to_string(sum.cases) + (sum.cases == 1 ? " case: " : " cases: ") +
                     std::to_string(sum.passed) + " passed";
  const auto add = [&](int64_t count, const char* word) {
    if (count > 0)
      text += ", " + std::to_string(count) + " " + word;
  };
  add(sum.failed, "FAILED");
  add(sum.hang, sum.hang == 1 ? "HANG" : "HANGS");
  add(sum.crash, sum.crash == 1 ? "CRASH" : "CRASHES");
  add(sum.inconclusive, "inconclusive");
  add(sum.not_supported, "not supported");
  add(sum.skipped, "skipped");
  const double wall = result.environment.wall_seconds;
  text += "; " + seconds_text(wall);
  const int64_t ran = sum.cases - sum.skipped - sum.not_supported;
  if (wall > 0 && ran > 0)
    text += ", " + figure(static_cast<double>(ran) / wall) + " cases/s";
  return text;
}

}  // namespace ringcheck::reports
