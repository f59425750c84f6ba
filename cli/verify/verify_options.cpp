// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/verify_options.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "cli/files.h"
#include "cli/transport.h"
#include "cli/usage_error.h"
#include "cli/verify/oracles.h"
#include "cli/workers/self_test.h"
#include "parity/case/text.h"

namespace ringcheck::cli {
namespace {

// Where no case is run there is no result.
void check_that_something_is_written(const VerifyOptions& options) {
  if (!options.list && !options.coverage) return;
  if (options.list && options.coverage)
    throw UsageError("--list and --coverage print something else each, and run no case; leave one of the two out");
  const std::string instead = options.list ? "--list" : "--coverage";
  for (const auto& [option, path] : {std::pair{"--json", options.telling.json}, {"--junit", options.telling.junit},
                                     {"--markdown", options.telling.markdown}, {"--bundle", options.bundle}, {"--resume", options.resume}})
    if (!path.empty())
      throw UsageError(std::string(option) + " " + path + ": with " + instead +
                       " no case is run, and there is nothing to write; leave one of the two out");
}

// Tensors, and what its subject is made of.
std::vector<std::string> read_by(const std::vector<parity::Case>& cases) {
  std::set<std::string> files;
  for (const parity::Case& test : cases) {
    if (const parity::Call data = parity::parse_call(test.data); data.name == "tensors")
      files.insert(data.arguments.at(0));
    const parity::Call subject = parity::parse_call(test.subject);
    if (subject.arguments.empty()) continue;
    const std::string& first = subject.arguments.front();
    if (subject.name == "plugin") files.insert(first);
    if (subject.name == "python") files.insert(first.substr(0, first.rfind(':')));
    if (subject.name == "files")
      for (const std::string& file : files_of(std::vector{first})) files.insert(file);
  }
  return {files.begin(), files.end()};
}

void check_resumable(const VerifyOptions& options, const std::vector<std::string>& oracles) {
  if (options.resume.empty()) return;
  const std::string option = "--resume " + options.resume + ": ";
  if (options.sample || !options.bundle.empty())
    throw UsageError(option + "nothing of a sample is kept, and a bundle is of one run; leave --sample, --bundle or --resume out");
  if (std::ranges::find(oracles, "parity") == oracles.end())
    throw UsageError(option + "what parity found is kept, and --oracles " + options.telling.oracles +
                     " does not ask it; add parity, or leave --resume out");
}

}  // namespace

void check(const VerifyOptions& options) {
  if (options.deadline && !(*options.deadline > 0 && *options.deadline <= 1e6))
    throw UsageError("--deadline " + parity::number_text(*options.deadline) +
                     ": it must be above 0 and at most 1000000 seconds");
  if (options.telling.timelines && options.telling.json.empty())
    throw UsageError("--timeline: the events are kept in the result; say --json FILE, too");
  check_resumable(options, parse_oracles(options.telling.oracles));
  judging_with(options.planted);
}

void check(const VerifyOptions& options, const Selection& selection) {
  const Telling& telling = options.telling;
  std::vector<std::string> inputs = read_by(selection.cases);
  inputs.push_back(options.waivers);
  check_files(inputs, {{"--json", telling.json}, {"--junit", telling.junit}, {"--markdown", telling.markdown},
                       {"--bundle", options.bundle, true}, {"--resume", options.resume, true}});
  check_that_something_is_written(options);
}

void add_options(CLI::App& program, VerifyOptions& options) {
  add_case_options(program, options.cases);
  program.add_flag("--list", options.list, "print the cases, run none")->group("Which cases");
  program
      .add_flag("--coverage", options.coverage,
                "print how many of the cases meet each rare condition, run none")
      ->group("Which cases");
  const auto group = "Running and reporting";
  program
      .add_option("--deadline", options.deadline,
                  "of silence of all ranks; the larger of 30 s (of another subject 120 s) and 20 "
                  "times the predicted time")
      ->check(a_number())
      ->group(group)
      ->type_name("SECONDS");
  program
      .add_option("--jobs", options.jobs,
                  "workers that run small cases at a time; default: one more than cores, at most 8; on GPUs at "
                  "most 12 and one for each 4 GiB of the smallest, and 1 where one takes one process only")
      ->check(CLI::Range(1, 64))
      ->group(group)
      ->type_name("N");
  program.add_option("--transport", options.transport, transport_help())
      ->group(group)
      ->check(not_empty())
      ->type_name("NAME");
  program
      .add_option("--oracles", options.telling.oracles,
                  "who judges: names, or all; default: those content with one run of a case, and of the others "
                  "those that a small case draws")
      ->group(group)
      ->check(not_empty())
      ->type_name("LIST");
  program.add_option("--sample", options.sample, "judge N random queries and keys of each head")
      ->group(group)
      ->type_name("N");
  program
      .add_option("--plant-in-judging", options.planted,
                  "the self-test before the cases is to find this fault, and exit with 70")
      ->group("")
      ->type_name("FAULT");
  program.add_option("--waivers", options.waivers, "failures that are known: docs/results.md")
      ->group(group)
      ->check(not_empty())
      ->type_name("FILE");
  program.add_option("--bundle", options.bundle,
                     "keep what failed in a new folder, made smaller, for ringcheck replay")
      ->group(group)
      ->check(not_empty())
      ->type_name("DIR");
  program.add_option("--resume", options.resume,
                     "keep in DIR what parity found for each key-value head; a later run of the same case judges the rest")
      ->group(group)
      ->check(not_empty())
      ->type_name("DIR");
  program.add_flag("--timeline", options.telling.timelines,
                   "keep in the result what each rank did when: ringcheck report html draws it")
      ->group(group);
  program.add_option("--json", options.telling.json, "write the result; - is stdout")
      ->group(group)
      ->check(not_empty())
      ->type_name("FILE");
  program.add_option("--junit", options.telling.junit, "write JUnit XML; - is stdout")
      ->group(group)
      ->check(not_empty())
      ->type_name("FILE");
  program.add_option("--markdown", options.telling.markdown, "write a page for a job summary; - is stdout")
      ->group(group)
      ->check(not_empty())
      ->type_name("FILE");
  program.add_flag("--verbose,-v", options.telling.verbose, "a line per case")->group(group);
}

}  // namespace ringcheck::cli
