// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <functional>
#include <regex>

#include "cli/screen.h"
#include "cli/usage_error.h"
#include "cp/attention/attention_kernel.h"
#include "cp/device/cuda_library.h"
#include "parity/case/text.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using Words = std::vector<std::string>;

bool is_hidden(const std::string& group) { return group.empty(); }

Words subcommands_of(const CLI::App& program) {
  Words names;
  for (const CLI::App* one : program.get_subcommands({}))
    if (!is_hidden(one->get_group())) names.push_back(one->get_name());
  return names;
}

Words options_of(const CLI::App& subcommand) {
  Words names;
  for (const CLI::Option* option : subcommand.get_options())
    if (!is_hidden(option->get_group()))
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// A word that was left over, and what it may have been meant to be.
std::string unexpected(const std::string& word, const Words& known) {
  const std::string name = word.substr(0, word.find('='));
  const std::string meant = parity::nearest(name, known);
  return "unknown word '" + name + "'; " +
         (meant.empty() ? "leave it out" : "did you mean " + meant + "?");
}

// The command whose words were being read: the innermost that was named.
const CLI::App* innermost(const CLI::App* program, std::string& name) {
  while (!program->get_subcommands().empty()) {
    program = program->get_subcommands().front();
    name += " " + program->get_name();
  }
  return program;
}

// A word in a place that was meant to be a subcommand, or the first that nobody took.
std::string surplus(const CLI::App& given, const Words& left, const Words& subcommands) {
  for (const CLI::Option* option : given.get_options())
    for (const std::string& word : option->get_positional() ? option->results() : Words())
      if (!parity::nearest(word, subcommands).empty()) return word;
  return left.front();
}

// Its own, and those of what is below.
void for_each_option(CLI::App& subcommand, const std::function<void(CLI::Option&)>& change) {
  for (CLI::Option* option : subcommand.get_options({})) change(*option);
  for (CLI::App* inner : subcommand.get_subcommands({})) for_each_option(*inner, change);
}

// Of "--color: red not in {auto,always,never}" or "--jobs: Value 0 not in range 1 to 64" (since CLI11 2.4
// "[1 - 64]") what was got and what is wanted; empty: it is neither. The value may be of any length.
std::string with_wanted(const std::string& text) {
  const size_t colon = text.find(": ");
  if (colon == std::string::npos) return "";
  const auto between_words = [&](const std::string& before, const std::string& after, const std::string& want) {
    const size_t begin = colon + 2 + before.size(), end = text.rfind(after);
    if (end == std::string::npos || end < begin || text.compare(colon + 2, before.size(), before) != 0)
      return std::string();
    return text.substr(0, colon) + ": got '" + text.substr(begin, end - begin) + "'; want " + want;
  };
  if (const size_t choices = text.rfind(" not in {"); choices != std::string::npos && text.ends_with('}')) {
    const std::string list = text.substr(choices + 9, text.size() - choices - 10);
    return between_words("", " not in {", "one of " + c10::Join(", ", CLI::detail::split(list, ',')));
  }
  const size_t range = text.rfind(" not in range ");
  if (range == std::string::npos) return "";
  std::string limits = text.substr(range + 14);
  std::erase_if(limits, [](char c) { return c == '[' || c == ']'; });
  return between_words("Value ", " not in range ", "a whole number from " + limits.substr(0, limits.find(' ')) +
                                                       " to " + limits.substr(limits.rfind(' ') + 1));
}

// What CLI11 leaves to the reader.
std::string with_fix(const CLI::Error& error) {
  const std::string kind = error.get_name(), text = error.what();
  if (text.find("; ") != std::string::npos)
    return text;
  if (const size_t end = text.find(" was given a disallowed flag override"); end != std::string::npos)
    return "--" + text.substr(0, end) + " takes no value; leave it out";
  if (kind == "RequiredError")
    return text + "; give it";
  if (kind == "RequiresError")
    return text + "; give that, too, or leave this out";
  if (const std::string fixed = with_wanted(text); !fixed.empty())
    return fixed;
  if (kind == "ConversionError")
    return text + "; want a number";
  if (kind == "ExcludesError")
    return text + "; leave one of them out";
  if (kind == "ArgumentMismatch")
    return text + "; say it once, with what it takes behind it";
  return text + "; say what it takes";
}

// What is wrong with a number in words; empty: it is decimal.
std::string why_not_decimal(const std::string& text) {
  static const std::regex decimal(R"(-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)");
  return std::regex_match(text, decimal) ? "" : "got '" + text + "'; want a number in decimal digits, without a 0, + or space before them";
}

// A limit as type, text and kind of number say it.
template <class Number>
struct Limits {
  Number least, most;
  std::string type, from, to, wanted;

  CLI::Validator validator() const {
    return {[*this](const std::string& text) {
              Number value = 0;
              const bool number = CLI::detail::lexical_cast(text, value);
              return number && value >= least && value <= most
                         ? std::string()
                         : "got '" + text + "'; want " + wanted + " from " + from + " to " + to;
            },
            type + " in [" + from + " - " + to + "]"};
  }
};

}  // namespace

CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? "got '', which names nothing; name one, or leave the option out" : ""; }, ""};
}

CLI::Validator a_number() { return {why_not_decimal, ""}; }

CLI::Validator whole_between(int64_t least, int64_t most) {
  return Limits<int64_t>{least, most, "INT", std::to_string(least), std::to_string(most), "a whole number"}.validator();
}

CLI::Validator between(double least, double most) {
  return Limits<double>{least, most, "FLOAT", parity::number_text(least), parity::number_text(most), "a number"}.validator();
}

void take_no_value(CLI::App& subcommand) {
  for_each_option(subcommand, [](CLI::Option& option) {
    if (option.get_expected_max() == 0) option.disable_flag_override();
  });
}

void take_decimals(CLI::App& subcommand) {
  for_each_option(subcommand, [](CLI::Option& option) {
    const std::string type = option.get_type_name();
    if (type.find("INT") != std::string::npos || type.find("FLOAT") != std::string::npos) option.check(why_not_decimal);
  });
}

std::string what_was_wrong(const CLI::App* program, const CLI::Error& error) {
  std::string text = with_fix(error), own = program->get_name();
  const CLI::App* given = innermost(program, own);
  if (const Words left = given->remaining(); !left.empty()) {
    const Words names = subcommands_of(*given);
    Words known = options_of(*given);
    known.insert(known.end(), names.begin(), names.end());
    text = unexpected(surplus(*given, left, names), known);
    if (!names.empty()) text += "; subcommands: " + c10::Join(", ", names);
  }
  return complaint(text, own) + "Run " + own + " --help for more information.\n";
}

void contradict(const std::string& a, const std::string& b, const std::string& why) {
  throw UsageError(a + " and " + b + " contradict each other: " + why + "; leave one of them out");
}

void check_kernel_on(const std::string& kernel, const std::string& device) {
  parity::known_name("kernel", kernel, AttentionKernels::all());
  if (device == "cuda" && why_no_cuda())
    throw NothingRan(*why_no_cuda());
  const Words there = kernels_on(device == "cuda" ? at::kCUDA : at::kCPU);
  if (std::ranges::find(there, kernel) == there.end())
    throw UsageError("kernel " + kernel + " does not run on device " + device + "; there are " +
                     c10::Join(", ", there) + ": say one of these, or another --device");
}

}  // namespace ringcheck::cli
