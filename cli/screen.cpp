// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/screen.h"

#include <fmt/color.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "cli/message.h"
#include "cp/worlds/launcher.h"
#include "cp/worlds/torch_variables.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using reports::Tone;

// What --color said last: of one subcommand, as there is one in a command.
std::string& asked() {
  static std::string word = "auto";
  return word;
}

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// mpirun gives its ranks a terminal of their own, and passes on what they write there.
bool is_launched() try {
  return detect_launcher().has_value();
} catch (const BadLaunch&) {
  return false;
}

bool is_terminal(const std::ostream& stream) {
  return ::isatty(&stream == &std::cerr ? STDERR_FILENO : STDOUT_FILENO) == 1 && !is_launched();
}

bool in_color(const std::ostream& stream) {
  if (asked() != "auto") return asked() == "always";
  return is_terminal(stream) && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

fmt::text_style style_of(Tone tone) {
  switch (tone) {
    case Tone::kPlain: return {};
    case Tone::kGood: return fmt::emphasis::bold | fg(fmt::terminal_color::green);
    case Tone::kBad: return fmt::emphasis::bold | fg(fmt::terminal_color::red);
    case Tone::kOpen: return fg(fmt::terminal_color::yellow);
    case Tone::kFaint: return fmt::emphasis::faint;
  }
  return {};
}

// The help of CLI11, its right column in lines that fit a terminal.
class Help : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return fitting(option->get_description());
  }
  std::string make_subcommand(const CLI::App* subcommand) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, subcommand->get_name(), fitting(subcommand->get_description()),
                             column_width_);
    return out.str();
  }

 private:
  std::string fitting(const std::string& text) const {
    return reports::wrapped(text, 0, 0, reports::kColumns - column_width_);
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> narrow_help() { return std::make_shared<Help>(); }

void add_color(CLI::App& subcommand) {
  for (CLI::App* const below : subcommand.get_subcommands({})) add_color(*below);
  subcommand
      .add_option_function<std::string>(
          "--color", [](const std::string& word) { asked() = word; },
          "when there is colour; auto: on a terminal, unless NO_COLOR is set")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
}

reports::Paint paint_on(const std::ostream& stream) {
  if (!in_color(stream)) return reports::unpainted;
  return [](Tone tone, const std::string& text) {  // line by line: a pager forgets at the end of one
    std::string painted;
    for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
      end = std::min(text.find('\n', begin), text.size());
      painted += fmt::format(style_of(tone), "{}", text.substr(begin, end - begin));
      if (end < text.size()) painted += '\n';
    }
    return painted;
  };
}

std::string complaint(const std::string& text, const std::string& of) {
  const std::string label = of + ":", line = one_line(text);
  const std::string said =
      is_terminal(std::cerr) ? reports::wrapped(line, label.size() + 1, label.size() + 1) : line;
  return paint_on(std::cerr)(Tone::kBad, label) + " " + said + "\n";
}

}  // namespace ringcheck::cli
