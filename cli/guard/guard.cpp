// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck guard: did a training step of any implementation keep attention's conservation laws?
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/environment.h"
#include "cli/files.h"
#include "cli/guard/guard_report.h"
#include "cli/subcommand.h"
#include "reports/envelope.h"
#include "reports/file.h"
#include "reports/formats/junit.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using parity::Status;

constexpr int kFailed = 1, kShowsNothing = 6;  // exit codes

struct Options {
  GuardQuestion question;
  std::string json, junit;
};

std::string command_of(const GuardQuestion& question) {
  std::string command = "ringcheck guard";
  for (const std::string& file : question.files) command += " " + reports::shell_word(file);
  if (!question.accumulation.empty())
    command += " --accumulation " + reports::shell_word(question.accumulation);
  return command + (question.unrotated ? " --unrotated" : "");
}

void write(const Options& options, const Guarded& all) {
  if (!options.json.empty()) {
    reports::Environment here = environment();
    here.command = command_of(options.question);
    reports::write_json(options.json, reports::envelope(reports::Kind::kGuard, here,
                                                        to_json(all, options.question)));
  }
  if (!options.junit.empty())
    reports::write_file(options.junit, reports::junit(cases_of(all, command_of(options.question))));
}

int run(const Options& options) {
  check_distinct("guard", options.question.files);
  check_files(options.question.files, {{"--json", options.json}, {"--junit", options.junit}});
  const Guarded all = guard(options.question);
  if (all.empty()) {
    std::cerr << "ringcheck: guard: the files hold no token; nothing was judged\n";
    return exit_codes::kNothingRan;
  }
  print(all, reports::screen_beside({options.json, options.junit}));
  write(options, all);
  if (all.status == Status::kFail) return kFailed;
  return all.status == Status::kPass ? 0 : kShowsNothing;
}

const Subcommands::Add add("guard", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("judges dumped tensors of any implementation by conservation laws");
  program
      .add_option("files", options->question.files,
                  "safetensors with q k v o do dq dk dv and, perhaps, lse; one, or one a rank")
      ->required()
      ->check(not_empty())
      ->type_name("FILE");
  const auto file = [&](const char* name, std::string& value, const char* says) {
    program.add_option(name, value, says)->type_name("FILE")->check(not_empty());
  };
  file("--json", options->json, "write the result; - is stdout");
  file("--junit", options->junit, "write JUnit XML; - is stdout");
  program.add_flag("--unrotated", options->question.unrotated,
                   "q, k, dq and dk are those before a rotary embedding: C2 is skipped");
  program
      .add_option("--accumulation", options->question.accumulation,
                  "dq, dk and dv are added up in DTYPE, which rounds them after every LENGTH terms")
      ->type_name("DTYPE[LENGTH]")
      ->check(not_empty());
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
