// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck verify: is it right?
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/environment.h"
#include "cli/oracles.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/sample.h"
#include "cli/selection.h"
#include "cli/subcommand.h"
#include "cli/supervisor.h"
#include "cp/cuda_library.h"
#include "cp/launcher.h"
#include "cp/moment.h"
#include "reports/console.h"
#include "reports/file.h"
#include "reports/junit.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::map<std::string, std::vector<std::string>> lists;  // of each axis, as typed
  std::vector<std::string> models;
  Asked asked;
  std::string json, junit, oracles;
  std::optional<double> deadline;  // seconds
  std::optional<std::string> sample_text;
  int64_t sample = 0;  // of parity::RunOptions
  bool list = false, verbose = false;
};

Selection selection_of(const Options& options) {
  Asked asked = options.asked;
  for (const auto& [name, lists] : options.lists)
    if (!lists.empty())
      asked.axes[name] = split_values(lists);
  asked.models = split_values(options.models);
  return select(asked);
}

void check(const Options& options) {
  if (options.deadline && !(*options.deadline > 0 && *options.deadline <= 1e6))
    throw UsageError("--deadline must be above 0 and at most 1000000 seconds");
  if (!options.json.empty())
    reports::check_writable(options.json);
  if (!options.junit.empty())
    reports::check_writable(options.junit);
  parse_oracles(options.oracles);
  if (!options.json.empty() && options.json == options.junit)
    throw UsageError("--json and --junit name the same file '" + options.json + "'");
}

// The figure that a run of clean cases is for.
std::string alarms_text(const reports::Result& result) {
  const reports::Summary& sum = result.summary;
  const int64_t judged = sum.passed + sum.failed;
  std::string text = "false alarms: " + std::to_string(sum.failed) + " of " +
                     std::to_string(judged) + " clean cases";
  if (sum.failed == 0 && judged > 0)
    text += "; with 95 % confidence the rate is below 3/" + std::to_string(judged) + " = " +
            reports::figure(3.0 / static_cast<double>(judged));
  return text + "\n";
}

// A single case that cannot run was asked for by mistake. Clean cases are asked for alarms only:
// one that shows nothing is left out of the count.
int exit_code_of(const Options& options, const Selection& selection,
                 const reports::Result& result) {
  if (selection.single && result.summary.not_supported == 1)
    return exit_codes::kUsage;
  std::vector<reports::CaseResult> cases = result.cases;
  if (!options.asked.clean.empty())
    std::erase_if(cases, [](const reports::CaseResult& test) {
      return test.verdict == reports::Verdict::kInconclusive;
    });
  return reports::exit_code(cases);
}

class Report {
 public:
  Report(const Options& options, const Selection& selection, std::string launcher,
         std::string transport)
      : options_(options), selection_(selection) {
    result_.environment = environment();
    if (parity::any_on_cuda(selection.cases))
      result_.environment.device = describe_gpus();
    result_.environment.launcher = std::move(launcher);
    result_.environment.transport = std::move(transport);
    result_.environment.command = "ringcheck verify: " + selection.what;
  }
  void begin() const {
    std::cout << reports::console_header(result_.environment, selection_.what) << std::flush;
  }
  void line(const reports::CaseResult& test) const {
    if (options_.verbose)
      std::cout << reports::console_line(test) << std::flush;
  }
  // Prints, writes the files and returns the exit code.
  int end(std::vector<reports::CaseResult> cases) {
    result_.environment.wall_seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    result_.cases = std::move(cases);
    for (reports::CaseResult& test : result_.cases)
      note_sample(options_.sample, test);
    if (!options_.oracles.empty())
      for (reports::CaseResult& test : result_.cases)
        test.reproduce += " --oracles " + options_.oracles;
    result_.summary = reports::summary_of(result_.cases);
    if (options_.verbose)
      std::cout << "\n";
    std::cout << reports::console_report(result_);
    if (!options_.asked.clean.empty())
      std::cout << alarms_text(result_);
    if (options_.sample > 0)
      std::cout << sampled_text(options_.sample, result_.cases);
    std::cout << std::flush;
    if (!options_.json.empty())
      reports::write_file(options_.json, text_of(reports::to_json(result_)));
    if (!options_.junit.empty())
      reports::write_file(options_.junit, reports::junit(result_));
    const int code = exit_code_of(options_, selection_, result_);
    if (code == exit_codes::kUsage)
      std::cerr << "ringcheck: not supported: " << result_.cases.front().reason << "\n";
    return code;
  }

 private:
  static std::string text_of(const nlohmann::json& json) {
    return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }

  const Options& options_;
  const Selection& selection_;
  reports::Result result_;
  Clock::time_point begin_ = Clock::now();
};

int list(const Selection& selection) {
  for (const parity::Case& test : selection.cases)
    std::cout << parity::to_text(test) << "\n";
  return selection.cases.empty() ? exit_codes::kNothingRan : 0;
}

// How the cases are run and judged.
SupervisorOptions conduct(const Options& options) {
  SupervisorOptions result;
  result.deadline_seconds = options.deadline;
  result.judging = {parse_oracles(options.oracles), options.sample};
  return result;
}

int run_supervised(const Options& options, const Selection& selection) {
  Report report(options, selection, "no launcher",
                parity::any_on_cuda(selection.cases)
                    ? "thread worlds on " + std::to_string(device_count(at::kCUDA)) +
                          " GPUs by copies and events, process worlds by NCCL under mpirun"
                    : "thread worlds in one process, MPI worlds under mpirun");
  report.begin();
  SupervisorOptions supervisor = conduct(options);
  auto progress = std::make_unique<Progress>(selection.cases.size());
  supervisor.finished = [&](const reports::CaseResult& test) {
    report.line(test);
    progress->advance(test.verdict == reports::Verdict::kPass);
  };
  std::vector<reports::CaseResult> results = supervise(selection.cases, supervisor);
  progress.reset();
  return report.end(std::move(results));
}

int run_launched(const Options& options, const Selection& selection, const Launcher& launcher) {
  std::unique_ptr<Report> report;
  if (launcher.rank <= 0) {
    report = std::make_unique<Report>(options, selection, describe(launcher),
                                      transport_of(launcher, selection.cases));
    report->begin();
  }
  return run_ranks(launcher, selection.cases, conduct(options), [&](auto results) {
    for (const reports::CaseResult& test : results)
      report->line(test);
    return report->end(std::move(results));
  });
}

int run(Options options) {
  if (options.sample_text)
    options.sample = sample_of(*options.sample_text);
  Selection selection = selection_of(options);
  const auto launcher = detect_launcher();
  if (launcher)
    adopt(*launcher, !options.asked.cases.empty() || !options.lists.at("world").empty(),
          selection.cases);
  if (options.list)
    return launcher && launcher->rank > 0 ? 0 : list(selection);
  if (!launcher || launcher->rank <= 0)
    check(options);
  return launcher ? run_launched(options, selection, *launcher)
                  : run_supervised(options, selection);
}

void declare_axes(CLI::App& program, Options& options) {
  for (const Axis& axis : axes()) {
    program.add_option("--" + axis.name, options.lists[axis.name], axis.help)
        ->group("Axes (lists with commas)")
        ->type_name("LIST");
  }
}

void declare_cases(CLI::App& program, Options& options) {
  const auto group = "Which cases";
  program
      .add_option("--profile", options.asked.profile,
                  "smoke, conformance or stress; axes beside it select among its cases")
      ->group(group)
      ->type_name("NAME");
  program.add_option("--model", options.models, "heads, dims, RoPE and masks of published models")
      ->group(group)
      ->type_name("LIST");
  program.add_option("--case", options.asked.cases, "exactly this case; may be repeated")
      ->group(group)
      ->type_name("TEXT");
  program.add_option("--tensors", options.asked.tensors, "your own q, k, v and, perhaps, do")
      ->group(group)
      ->type_name("FILE.safetensors");
  program.add_option("--clean", options.asked.clean, "N random cases that must not fail")
      ->group(group)
      ->type_name("N [SEED]")
      ->expected(1, 2);
  program.add_flag("--list", options.list, "print the cases, run none")->group(group);
}

const Subcommands::Add add("verify", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("runs cases of context-parallel attention and judges every one of them");
  declare_cases(program, *options);
  declare_axes(program, *options);
  const auto group = "Running and reporting";
  program
      .add_option("--deadline", options->deadline,
                  "of silence of all ranks; the larger of 30 s and 20 times the predicted time")
      ->group(group)
      ->type_name("SECONDS");
  program
      .add_option("--oracles", options->oracles,
                  "who judges: names, or all; default: those content with one run of a case")
      ->group(group)
      ->type_name("LIST");
  program.add_option("--sample", options->sample_text, "judge N random queries and keys of each head")
      ->group(group)
      ->type_name("N");
  program.add_option("--json", options->json, "write the result")->group(group)->type_name("FILE");
  program.add_option("--junit", options->junit, "write JUnit XML")->group(group)->type_name("FILE");
  program.add_flag("--verbose,-v", options->verbose, "a line per case")->group(group);
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
