// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck verify: is it right?
#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <utility>

#include "cli/arguments.h"
#include "cli/bundle/bundle_folder.h"
#include "cli/bundle/shrink.h"
#include "cli/case_options.h"
#include "cli/files.h"
#include "cli/files/new_folder.h"
#include "cli/results/read_waivers.h"
#include "cli/verify/coverage.h"
#include "cli/verify/fitting.h"
#include "cli/verify/further_runs.h"
#include "cli/verify/oracles.h"
#include "cli/process/folder.h"
#include "cli/progress.h"
#include "cli/workers/sharing/dealing.h"
#include "cli/workers/plugins.h"
#include "cli/workers/ranks.h"
#include "cli/workers/self_test.h"
#include "cli/verify/sample.h"
#include "cli/verify/selection.h"
#include "cli/subcommand.h"
#include "cli/transport.h"
#include "cli/workers/supervisor.h"
#include "cli/verify/verify_options.h"
#include "cli/verify/verify_report.h"
#include "cp/worlds/launcher.h"
#include "cp/device/moment.h"
#include "parity/case/text.h"
#include "reports/screen/console.h"

namespace ringcheck::cli {
namespace {

constexpr double kLongestAnswer = 60;  // seconds

int list(const Selection& selection) {
  for (const parity::Case& test : selection.cases)
    std::cout << parity::to_text(test) << "\n";
  return selection.cases.empty() ? exit_codes::kNothingRan : 0;
}

// How the cases are run and judged.
SupervisorOptions conduct(const VerifyOptions& options) {
  SupervisorOptions result;
  result.deadline_seconds = options.deadline;
  result.judging = judging_of(options.telling.oracles, options.telling.sample, options.resume);
  result.planted = options.planted;
  result.bundles = options.bundle;
  result.timelines = options.telling.timelines;
  result.transport = transport_or_usual(options.transport);
  return result;
}

std::string supervised_transport(const std::string& transport,
                                 const std::vector<parity::Case>& cases) {
  if (!parity::any_on_cuda(cases))
    return "threads of one process, or processes under mpirun";
  const int gpus = device_count(at::kCUDA);
  return "threads of one process on " + std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs") +
         ", or processes under mpirun over " + transport_name(transport);
}

int run_supervised(const VerifyOptions& options, const Selection& selection) {
  { const TemporaryFolder for_workers; }  // or it is refused here, before anything is said
  const BundleFolder bundles(options.bundle);
  VerifyReport report(options.telling, selection, "no launcher",
                      supervised_transport(options.transport, selection.cases));
  report.begin();
  SupervisorOptions supervisor = conduct(options);
  const VisibleGpus gpus = gpus_for(selection.cases);
  supervisor.jobs = options.jobs ? *options.jobs : default_jobs(selection.cases, gpus, cores_here());
  double work = 0;
  for (const parity::Case& test : selection.cases) work += seconds_of(test);
  std::unique_ptr<Progress> progress;
  if (!options.telling.verbose)  // which has a line a case instead
    progress = std::make_unique<Progress>(selection.cases.size(), "cases", work);
  supervisor.finished = [&](const reports::CaseResult& test) {
    report.line(test);
    if (progress) progress->advance(!reports::is_bad(test.verdict), seconds_of(parity::parse_case(test.name)));
  };
  std::vector<reports::CaseResult> results = supervise_what_fits(selection.cases, gpus, supervisor);
  progress.reset();
  const std::string kept = std::exchange(supervisor.bundles, "");
  if (!kept.empty()) shrink_bundles(kept, supervisor, results);
  bundles.note(results);
  if (options.resume.empty()) run_failures_again(selection.cases, supervisor, results);
  return report.end(std::move(results));
}

// Rank 0 of a launcher's ranks: it prints and writes.
int run_first(const VerifyOptions& options, const Selection& selection, const Launcher& launcher) {
  const BundleFolder bundles(options.bundle);
  Record record(options.telling.json, options.telling.junit, ranks_of(launcher));
  VerifyReport report(options.telling, selection, describe(launcher),
                      transport_text(options.transport, launcher, selection.cases));
  record.journal().head(report.nothing_ran());
  report.begin();
  const RanksReport told{record,
                         [&](const reports::CaseResult& test) {
                           report.line(test);
                           return report.noted(test);
                         },
                         [&](auto results) {
                           bundles.note(results);
                           return report.end(std::move(results));
                         }};
  return run_ranks(launcher, selection.cases, conduct(options), &told);
}

int run_launched(const VerifyOptions& options, const Selection& selection, const Launcher& launcher) {
  return launcher.rank <= 0 ? run_first(options, selection, launcher)
                            : run_ranks(launcher, selection.cases, conduct(options), nullptr);
}

// Of a single case: among several, one that does not fit is counted.
void check_memory(const parity::Case& test, const std::optional<Launcher>& launcher) {
  const int here = launcher && launcher->local_size > 0 ? launcher->local_size : test.world;
  if (const auto reason = too_large(test, here, memory_here(gpus_for({test}))))
    throw UsageError("the case " + *reason + ": " + parity::to_text(test));
}

// Threads are ranks of one process: of a single one that a launcher started they are made as without.
std::optional<Launcher> launcher_for(const VerifyOptions& options) {
  const auto launcher = detect_launcher();
  const std::vector<std::string>& asked = options.cases.lists.at("world-kind");
  if (!launcher || asked.empty()) return launcher;
  const std::vector<std::string> kinds = split_values("--world-kind", asked);
  if (std::ranges::find(kinds, "thread") == kinds.end()) return launcher;
  if (launcher->size > 1 || launcher->rank > 0)
    throw UsageError("--world-kind thread: the ranks of " + describe(*launcher) +
                     " are processes; leave the option out, or start ringcheck alone: it makes "
                     "its threads itself");
  return kinds.size() == 1 ? std::nullopt : launcher;
}

int run(VerifyOptions options) {
  const auto launcher = launcher_for(options);
  const bool speaks = !launcher || launcher->rank <= 0;  // for all ranks
  if (speaks) check(options);
  if (options.sample)
    options.telling.sample = sample_of(*options.sample);
  options.telling.deadline = options.deadline;
  options.telling.transport = options.transport;
  if (!options.waivers.empty()) options.telling.waivers = read_waivers(options.waivers);
  options.telling.clean = !options.cases.asked.clean.empty();
  if (speaks) {
    std::vector<std::string> texts = options.cases.asked.cases;
    std::ranges::copy(options.cases.lists.at("subject"), std::back_inserter(texts));
    check_plugins(texts);
  }
  const Asked asked = asked_of(options.cases);
  Selection selection = select(asked);
  if (speaks) check(options, selection);
  if (launcher)
    adopt(*launcher, !options.cases.asked.cases.empty() || !options.cases.lists.at("world").empty(),
          selection.cases);
  if (speaks) check_transport(options.transport, selection.cases);
  if (options.coverage) return speaks ? report_coverage(asked, selection) : 0;
  if (options.list) return speaks ? list(selection) : 0;
  if (speaks) check_answers(selection.cases, options.deadline.value_or(kLongestAnswer));
  if (selection.single && speaks) check_memory(selection.cases.front(), launcher);
  if (!options.resume.empty() && speaks) open_folder(options.resume);
  return launcher ? run_launched(options, selection, *launcher)
                  : run_supervised(options, selection);
}

const Subcommands::Add add("verify", [](CLI::App& program) {
  auto options = std::make_shared<VerifyOptions>();
  program.description("runs cases of context-parallel attention and judges every one of them");
  add_options(program, *options);
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
