// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ringcheck::testing {

// An option, or a word in a place, as --help shows it.
struct Described {
  std::string name;                   // --seq; or RESULT
  std::string type;                   // LIST, FILE, N:INT in [1 - 64]; empty: a flag
  bool many = false;                  // takes several words
  std::vector<std::string> choices;   // of {cpu,cuda}
  std::vector<std::string> excludes;  // other options
  bool is_flag() const { return type.empty(); }
  bool is_place() const { return !name.starts_with("-"); }
};

struct DescribedCommand {
  std::string name;                // verify; or report list
  std::vector<Described> options;  // without --help
  std::vector<std::string> words() const;
};

// What `ringcheck --help` says, and that of every subcommand, and of theirs.
std::vector<DescribedCommand> described_commands();

// A row of the table below "### Limits" in docs/cli.md, for each of its options.
struct Limit {
  std::string command, option;
  bool whole = true;    // whole numbers
  bool above = false;   // `least` itself is refused
  std::string least, most;
};
std::vector<Limit> documented_limits();

// The names in code before the colon of the row of docs/cli.md that begins with `option`.
std::vector<std::string> documented_names(const std::string& option);

// The options of which docs/cli.md says that only one may be given.
std::vector<std::string> documented_ways();

}  // namespace ringcheck::testing
