// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <iostream>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/screen.h"
#include "cli/subcommand.h"
#include "cli/workers/interrupts.h"
#include "cp/words.h"
#include "cp/worlds/torch_variables.h"
#include "parity/case/case.h"
#include "parity/judge/device_test.h"
#include "reports/file.h"
#include "reports/history/bad_history.h"

namespace ringcheck::cli {
namespace {

// "--json=" would take the next word, whatever it is, for the file.
void refuse_empty_values(int count, const char* const* words) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (const size_t equals = word.find('='); word.starts_with("-") && equals + 1 == word.size())
      throw UsageError(word.substr(0, equals) + ": " + not_empty()(std::string()));
  }
}

int run(int count, const char* const* words) {
  refuse_empty_values(count, words);
  CLI::App program("Is context-parallel attention right, and is it fast?", "ringcheck");
  program.set_version_flag("--version", version_text());
  program.require_subcommand(1);
  program.formatter(narrow_help());
  program.failure_message(what_was_wrong);

  std::map<CLI::App*, std::function<int()>> subcommands;
  for (const auto& [name, declare] : Subcommands::all()) {
    CLI::App* subcommand = program.add_subcommand(name);
    subcommands[subcommand] = declare(*subcommand);
    add_color(*subcommand);
    take_no_value(*subcommand);
    take_decimals(*subcommand);
  }
  try {
    program.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : exit_codes::kUsage;
  }
  return subcommands.at(program.get_subcommands().front())();
}

// Where it is closed, the first file that is opened would be stdout.
void check_stdout() {
  if (::fcntl(STDOUT_FILENO, F_GETFD) < 0)
    throw UsageError("cannot write 'stdout': it is closed; leave it open, or send it to a file or to /dev/null");
}

// The exit code, but where what was printed did not arrive: 2 instead of 0. A reader who has gone wanted no more.
int printed(int code) {
  std::cout.flush();
  if (std::cout || reports::reader_has_gone()) return code;
  std::cerr << complaint("cannot write 'stdout': not all of it was taken; is its disk full?");
  return code == 0 ? exit_codes::kUsage : code;
}

}  // namespace
}  // namespace ringcheck::cli

int ringcheck_command(int count, const char* const* words) {
  using namespace ringcheck;
  ::signal(SIGPIPE, SIG_IGN);  // a reader that has gone must not cost the report files
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is said, as a full disk is
  try {
    cli::check_stdout();
    return cli::printed(cli::run(count, words));
  } catch (const cli::UsageError& error) {
    std::cerr << cli::complaint(error.what());
  } catch (const parity::BadCase& error) {
    std::cerr << cli::complaint(error.what());
  } catch (const BadLaunch& error) {
    std::cerr << cli::complaint(error.what());
  } catch (const reports::Unwritable& error) {
    std::cerr << cli::complaint(error.what());
  } catch (const reports::BadHistory& error) {
    std::cerr << cli::complaint(error.what());
  } catch (const cli::Interrupted& by) {
    std::cerr << cli::complaint("interrupted by " + cli::Interrupts::text(by.signal) + "; nothing was written");
    ::signal(by.signal, SIG_DFL);
    ::raise(by.signal);
  } catch (const cli::NothingRan& error) {
    std::cerr << cli::complaint(std::string("nothing ran: ") + error.what());
    return exit_codes::kNothingRan;
  } catch (const parity::SelfTestFailed& error) {
    std::cerr << cli::complaint(error.what());
    return exit_codes::kSelfTest;
  } catch (const std::exception& error) {
    std::cerr << cli::complaint("internal error: " + words_of(error));
    return exit_codes::kSelfTest;
  }
  return exit_codes::kUsage;
}
