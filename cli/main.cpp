// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <iostream>

#include "cli/arguments.h"
#include "cli/environment.h"
#include "cli/subcommand.h"
#include "parity/case/case.h"
#include "parity/judge/device_test.h"
#include "reports/file.h"

namespace ringcheck::cli {
namespace {

int run(int argc, char** argv) {
  CLI::App program("Is context-parallel attention right, and is it fast?", "ringcheck");
  program.set_version_flag("--version", version_text());
  program.require_subcommand(1);
  program.failure_message(what_was_wrong);

  std::map<CLI::App*, std::function<int()>> subcommands;
  for (const auto& [name, declare] : Subcommands::all()) {
    CLI::App* subcommand = program.add_subcommand(name);
    subcommands[subcommand] = declare(*subcommand);
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : exit_codes::kUsage;
  }
  return subcommands.at(program.get_subcommands().front())();
}

}  // namespace
}  // namespace ringcheck::cli

int main(int argc, char** argv) {
  using namespace ringcheck;
  ::signal(SIGPIPE, SIG_IGN);  // a reader that has gone must not cost the report files
  try {
    return cli::run(argc, argv);
  } catch (const cli::UsageError& error) {
    std::cerr << "ringcheck: " << error.what() << "\n";
  } catch (const parity::BadCase& error) {
    std::cerr << "ringcheck: " << error.what() << "\n";
  } catch (const reports::Unwritable& error) {
    std::cerr << "ringcheck: " << error.what() << "\n";
  } catch (const cli::NothingRan& error) {
    std::cerr << "ringcheck: nothing ran: " << error.what() << "\n";
    return cli::exit_codes::kNothingRan;
  } catch (const parity::SelfTestFailed& error) {
    std::cerr << "ringcheck: " << error.what() << "\n";
    return cli::exit_codes::kSelfTest;
  } catch (const std::exception& error) {
    std::cerr << "ringcheck: internal error: " << error.what() << "\n";
    return cli::exit_codes::kSelfTest;
  }
  return cli::exit_codes::kUsage;
}
