// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck report list: the runs of a history.
#include <algorithm>
#include <iostream>
#include <memory>

#include "cli/arguments.h"
#include "cli/results/report_command.h"
#include "cli/screen.h"
#include "reports/history/history.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using reports::left;

// Long enough to be one commit, or one run, among thousands.
constexpr size_t kShortCommit = 12, kShortId = 8, kShortBranch = 9, kLongBranch = 40;

std::string outcome(const reports::ListedRun& run) {
  const reports::Summary& sum = run.summary;
  if (sum.cases == 0) return std::to_string(run.measurements) + " measurements";
  const auto part = [](int64_t n, const char* what) {
    return n == 0 ? "" : ", " + std::to_string(n) + " " + what;
  };
  return std::to_string(sum.passed) + " of " + std::to_string(sum.cases) + " passed" +
         part(sum.failed, "failed") + part(sum.hang, "hang") + part(sum.crash, "crash") +
         part(sum.inconclusive, "inconclusive") + part(sum.skipped, "skipped") +
         part(sum.not_supported, "not supported");
}

reports::Tone tone_of(const reports::Summary& sum) {
  if (sum.failed + sum.hang + sum.crash > 0) return reports::Tone::kBad;
  if (sum.cases == 0) return reports::Tone::kPlain;
  return sum.passed == sum.cases ? reports::Tone::kGood : reports::Tone::kOpen;
}

int run(const std::string& path, int64_t last) {
  reports::History history(path);
  const reports::Paint paint = paint_on(std::cout);
  const std::vector<reports::ListedRun> runs = history.list(last);
  size_t branch = kShortBranch;
  for (const reports::ListedRun& one : runs) branch = std::clamp(one.branch.size(), branch, kLongBranch);
  std::cout << left("run", kShortId + 2) << left("started", 22) << left("commit", kShortCommit + 2)
            << left("branch", branch + 1) << left("kind", 12) << "outcome\n";
  for (const reports::ListedRun& one : runs)
    std::cout << left(one.id.substr(0, kShortId), kShortId + 2) << left(one.started, 22)
              << left(one.commit.substr(0, kShortCommit), kShortCommit + 2)
              << left(one.branch.empty() ? "-" : one.branch, branch) << " " << left(one.kind, 12)
              << paint(tone_of(one.summary), outcome(one)) << "; " << one.device << "\n";
  std::cout << std::flush;
  return 0;
}

const ReportCommands::Add add("list", {[](CLI::App& program) {
  auto path = std::make_shared<std::string>();
  auto last = std::make_shared<int64_t>(0);
  program.description("lists the runs of a history, oldest first");
  program.add_option("HISTORY", *path, "of `ringcheck report add`")
      ->required()->check(not_empty())->type_name("FILE");
  program.add_option("--last", *last, "only so many, the newest")->check(CLI::Range(int64_t{1}, kMostRuns));
  return [path, last] { return run(*path, *last); };
}});

}  // namespace
}  // namespace ringcheck::cli
