// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck result: what a run under a launcher left, made a result.
#include <memory>

#include "cli/arguments.h"
#include "cli/files.h"
#include "cli/read_json.h"
#include "cli/subcommand.h"
#include "cli/results/recovery.h"
#include "cli/results/print_result.h"
#include "reports/file.h"
#include "reports/journal.h"

namespace ringcheck::cli {
namespace {

struct Options {
  std::string journal, json, junit;
};

// Nobody who could say more than the journal is left.
const Death kSilent{reports::Status::kCrash, -1,
                    "the run ended without a word: its processes were killed, or their machine "
                    "stopped", {}};

reports::Result result_in(const std::string& journal) {
  const std::string want = "the journal of a run of `ringcheck verify` under a launcher";
  const std::string text = read_text(journal, want);
  if (reports::is_being_written(journal))
    throw UsageError("'" + journal + "': its run goes on; wait for its end, it makes its files itself");
  try {
    return recovered(text, kSilent);
  } catch (const std::invalid_argument& error) {
    throw UsageError("cannot read '" + journal + "': " + error.what() + "; want " + want);
  }
}

int recover(const Options& options) {
  check_files({options.journal}, {{"-o", options.json}, {"--junit", options.junit}});
  const reports::Result result = result_in(options.journal);
  write_recovered(result, options.json, options.junit);
  print_result(result, reports::screen_beside({options.json, options.junit}));
  return 0;
}

const Subcommands::Add add("result", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("makes a result of what a killed run left");
  program.require_subcommand(1);
  CLI::App* command = program.add_subcommand(
      "recover", "of the journal of a run under a launcher, all of whose processes were killed");
  command->add_option("JOURNAL", options->journal, "RESULT.json.journal")
      ->required()
      ->check(not_empty());
  command->add_option("-o,--json", options->json, "write the result; - is stdout")
      ->required()
      ->check(not_empty())
      ->type_name("FILE");
  command->add_option("--junit", options->junit, "write JUnit XML; - is stdout")
      ->check(not_empty())
      ->type_name("FILE");
  return [options] { return recover(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
