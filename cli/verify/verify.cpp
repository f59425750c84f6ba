// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck verify: is it right?
#include <iostream>
#include <memory>

#include "cli/arguments.h"
#include "cli/verify/coverage.h"
#include "cli/verify/further_runs.h"
#include "cli/verify/memory.h"
#include "cli/verify/oracles.h"
#include "cli/progress.h"
#include "cli/workers/ranks.h"
#include "cli/workers/self_test.h"
#include "cli/verify/sample.h"
#include "cli/verify/selection.h"
#include "cli/subcommand.h"
#include "cli/workers/supervisor.h"
#include "cli/verify/verify_report.h"
#include "cp/worlds/launcher.h"
#include "cp/device/moment.h"
#include "parity/case/text.h"
#include "reports/file.h"

namespace ringcheck::cli {
namespace {

struct Options {
  PartLists lists;  // of the parts of a case, as typed
  std::vector<std::string> models;
  Asked asked;
  Telling telling;
  std::optional<double> deadline;  // seconds
  std::optional<std::string> sample;
  std::string planted;  // a fault of the judging
  std::optional<int> jobs;
  bool list = false;
  bool coverage = false;
};

Asked asked_of(const Options& options) {
  Asked asked = options.asked;
  for (const auto& [name, lists] : options.lists)
    if (!lists.empty())
      asked.parts[name] = split_values(lists);
  asked.models = split_values(options.models);
  return asked;
}

void check(const Options& options) {
  if (options.deadline && !(*options.deadline > 0 && *options.deadline <= 1e6))
    throw UsageError("--deadline " + parity::number_text(*options.deadline) +
                     ": it must be above 0 and at most 1000000 seconds");
  const Telling& telling = options.telling;
  for (const std::string& file : {telling.json, telling.junit})
    if (!file.empty())
      reports::check_writable(file);
  parse_oracles(telling.oracles);
  judging_with(options.planted);
  if (!telling.json.empty() && telling.json == telling.junit)
    throw UsageError("--json and --junit name the same file '" + telling.json + "'");
}

int list(const Selection& selection) {
  for (const parity::Case& test : selection.cases)
    std::cout << parity::to_text(test) << "\n";
  return selection.cases.empty() ? exit_codes::kNothingRan : 0;
}

// How the cases are run and judged.
SupervisorOptions conduct(const Options& options) {
  SupervisorOptions result;
  result.deadline_seconds = options.deadline;
  result.judging = judging_of(options.telling.oracles, options.telling.sample);
  result.planted = options.planted;
  return result;
}

std::string supervised_transport(const std::vector<parity::Case>& cases) {
  if (!parity::any_on_cuda(cases))
    return "thread worlds in one process, MPI worlds under mpirun";
  return "thread worlds on " + std::to_string(device_count(at::kCUDA)) +
         " GPUs by copies and events, process worlds by NCCL under mpirun";
}

int run_supervised(const Options& options, const Selection& selection) {
  VerifyReport report(options.telling, selection, "no launcher",
                      supervised_transport(selection.cases));
  report.begin();
  SupervisorOptions supervisor = conduct(options);
  supervisor.jobs = options.jobs ? *options.jobs : default_jobs(selection.cases);
  auto progress = std::make_unique<Progress>(selection.cases.size());
  supervisor.finished = [&](const reports::CaseResult& test) {
    report.line(test);
    progress->advance(test.verdict == reports::Status::kPass);
  };
  std::vector<reports::CaseResult> results = supervise_what_fits(selection.cases, supervisor);
  progress.reset();
  run_failures_again(selection.cases, supervisor, results);
  return report.end(std::move(results));
}

int run_launched(const Options& options, const Selection& selection, const Launcher& launcher) {
  std::unique_ptr<VerifyReport> report;
  if (launcher.rank <= 0) {
    report = std::make_unique<VerifyReport>(options.telling, selection, describe(launcher),
                                      transport_of(launcher, selection.cases));
    report->begin();
  }
  return run_ranks(launcher, selection.cases, conduct(options), [&](auto results) {
    for (const reports::CaseResult& test : results)
      report->line(test);
    return report->end(std::move(results));
  });
}

// Of a single case: among several, one that does not fit is counted.
void check_memory(const parity::Case& test, const std::optional<Launcher>& launcher) {
  const int here = launcher && launcher->local_size > 0 ? launcher->local_size : test.world;
  if (const auto reason = too_large(test, here, memory_here(parity::any_on_cuda({test}))))
    throw UsageError("the case " + *reason + ": " + parity::to_text(test));
}

int run(Options options) {
  const auto launcher = detect_launcher();
  if (!launcher || launcher->rank <= 0)
    check(options);
  if (options.sample)
    options.telling.sample = sample_of(*options.sample);
  options.telling.deadline = options.deadline;
  options.telling.clean = !options.asked.clean.empty();
  const Asked asked = asked_of(options);
  Selection selection = select(asked);
  if (launcher)
    adopt(*launcher, !options.asked.cases.empty() || !options.lists.at("world").empty(),
          selection.cases);
  if (options.coverage)
    return launcher && launcher->rank > 0 ? 0 : report_coverage(asked, selection);
  if (options.list)
    return launcher && launcher->rank > 0 ? 0 : list(selection);
  if (selection.single && (!launcher || launcher->rank <= 0))
    check_memory(selection.cases.front(), launcher);
  return launcher ? run_launched(options, selection, *launcher)
                  : run_supervised(options, selection);
}

void declare_parts(CLI::App& program, Options& options) {
  for (const parity::Part& part : options_of_cases())
    program.add_option("--" + part.option, options.lists[part.option], part.help)
        ->group("Parts of a case (lists with commas)")
        ->type_name("LIST");
}

void declare_cases(CLI::App& program, Options& options) {
  const auto group = "Which cases";
  program
      .add_option("--profile", options.asked.profile,
                  "smoke, conformance or stress; parts beside it select among its cases")
      ->group(group)
      ->check(not_empty())
      ->type_name("NAME");
  program.add_option("--model", options.models, "heads, dims, RoPE and masks of published models")
      ->group(group)
      ->check(not_empty())
      ->type_name("LIST");
  program.add_option("--case", options.asked.cases, "exactly this case; may be repeated")
      ->group(group)
      ->check(not_empty())
      ->type_name("TEXT");
  program.add_option("--tensors", options.asked.tensors, "your own q, k, v and, perhaps, do")
      ->group(group)
      ->check(not_empty())
      ->type_name("FILE.safetensors");
  program.add_option("--clean", options.asked.clean, "N random cases that must not fail")
      ->group(group)
      ->type_name("N [SEED]")
      ->expected(1, 2);
  program.add_flag("--list", options.list, "print the cases, run none")->group(group);
  program
      .add_flag("--coverage", options.coverage,
                "print how many of the cases meet each rare condition, run none")
      ->group(group);
}

const Subcommands::Add add("verify", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("runs cases of context-parallel attention and judges every one of them");
  declare_cases(program, *options);
  declare_parts(program, *options);
  const auto group = "Running and reporting";
  program
      .add_option("--deadline", options->deadline,
                  "of silence of all ranks; the larger of 30 s and 20 times the predicted time")
      ->group(group)
      ->type_name("SECONDS");
  program
      .add_option("--jobs", options->jobs,
                  "workers that run small cases at a time, a core each; default: as many as cores, "
                  "at most 8, and 1 where a GPU takes one process only")
      ->check(CLI::Range(1, 64))
      ->group(group)
      ->type_name("N");
  program
      .add_option("--oracles", options->telling.oracles,
                  "who judges: names, or all; default: those content with one run of a case, and of the others "
                  "those that a small case draws")
      ->group(group)
      ->check(not_empty())
      ->type_name("LIST");
  program.add_option("--sample", options->sample, "judge N random queries and keys of each head")
      ->group(group)
      ->type_name("N");
  program
      .add_option("--plant-in-judging", options->planted,
                  "the self-test before the cases is to find this fault, and exit with 70")
      ->group("")
      ->type_name("FAULT");
  program.add_option("--json", options->telling.json, "write the result; - is stdout")
      ->group(group)
      ->check(not_empty())
      ->type_name("FILE");
  program.add_option("--junit", options->telling.junit, "write JUnit XML; - is stdout")
      ->group(group)
      ->check(not_empty())
      ->type_name("FILE");
  program.add_flag("--verbose,-v", options->telling.verbose, "a line per case")->group(group);
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
