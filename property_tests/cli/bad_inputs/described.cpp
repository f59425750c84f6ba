// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/cli/bad_inputs/described.h"

#include <algorithm>
#include <functional>
#include <sstream>
#include <stdexcept>

#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using Words = std::vector<std::string>;

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Words split_at(const std::string& text, char separator) {
  Words parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// What help says of an option begins in this column, in the next line where there is no room.
constexpr size_t kColumn = 30;

std::string head_of(const std::string& line) {
  return trimmed(line.size() > kColumn && line[kColumn - 1] == ' ' ? line.substr(0, kColumn) : line);
}

Described option_of(const std::string& head) {
  Described option;
  const Words words = split_at(head, ' ');
  option.name = split_at(words.front(), ',').back();
  const auto excluded = std::ranges::find(words, "Excludes:");
  if (excluded != words.end()) option.excludes.assign(excluded + 1, words.end());
  for (auto word = words.begin() + 1; word != excluded; ++word)
    if (*word == "...") option.many = true;
    else if (*word != "REQUIRED") option.type += (option.type.empty() ? "" : " ") + *word;
  const size_t open = option.type.find('{'), close = option.type.find('}');
  if (open != std::string::npos)
    option.choices = split_at(option.type.substr(open + 1, close - open - 1), ',');
  return option;
}

std::vector<Described> options_in(const std::string& help) {
  std::vector<Described> options;
  for (const std::string& line : lines_of(help))
    if (line.size() > 2 && line.starts_with("  ") && line[2] != ' ') {
      const Described option = option_of(head_of(line));
      if (option.name != "--help") options.push_back(option);
    }
  return options;
}

std::string page() { return read_text(RINGCHECK_SOURCE_DIR "/docs/cli.md"); }

// The words in code quotes.
Words in_code(const std::string& text) {
  Words all = split_at(text, '`'), words;
  for (size_t i = 1; i < all.size(); i += 2) words.push_back(all[i]);
  return words;
}

}  // namespace

std::vector<std::string> DescribedCommand::words() const { return split_at(name, ' '); }

std::vector<DescribedCommand> described_commands() {
  std::vector<DescribedCommand> commands;
  const std::function<void(const std::string&)> add = [&](const std::string& name) {
    Words words = split_at(name, ' ');
    words.push_back("--help");
    std::string help = ringcheck(words).out;
    help.erase(0, std::min(help.find("Usage:"), help.size()));  // what it is for
    const size_t inner = std::min(help.find("Subcommands:"), help.size());
    if (const auto options = options_in(help.substr(0, inner)); !name.empty() && name != "result")
      commands.push_back({name, options});  // result by itself is nothing
    for (const Described& command : options_in(help.substr(inner)))
      add(name.empty() ? command.name : name + " " + command.name);
  };
  add("");
  return commands;
}

std::vector<Limit> documented_limits() {
  std::vector<Limit> limits;
  bool inside = false;
  for (const std::string& line : lines_of(page())) {
    if (line.starts_with("#")) inside = line == "### Limits";
    if (!inside || !line.starts_with("| `")) continue;
    const Words cells = split_at(line, '|');
    const std::string least = trimmed(cells.at(3)), most = trimmed(cells.at(4));
    const bool above = least.starts_with("above ");
    for (const std::string& option : in_code(cells.at(2)))
      limits.push_back({in_code(cells.at(1)).at(0), option,
                        (least + most).find('.') == std::string::npos, above,
                        above ? least.substr(6) : least, most});
  }
  return limits;
}

std::vector<std::string> documented_names(const std::string& option) {
  for (const std::string& line : lines_of(page()))
    if (line.starts_with("| `" + option + " ")) {
      const std::string cell = split_at(line, '|').at(2);
      return in_code(cell.substr(0, cell.find(": ")));
    }
  throw std::out_of_range("docs/cli.md has no row of " + option);
}

std::vector<std::string> documented_ways() {
  for (const std::string& line : lines_of(page()))
    if (line.starts_with("Only one of ")) return in_code(line);
  throw std::out_of_range("docs/cli.md does not say which ways to name cases exclude each other");
}

}  // namespace ringcheck::testing
