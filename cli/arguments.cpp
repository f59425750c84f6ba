// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <c10/util/StringUtil.h>

#include <algorithm>

#include "cli/usage_error.h"
#include "cp/attention/attention_kernel.h"
#include "cp/device/cuda_library.h"
#include "parity/case/text.h"

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
std::string unexpected(const std::string& word, const std::string& of, const Words& known) {
  const std::string name = word.substr(0, word.find('='));
  const std::string meant = parity::nearest(name, known);
  return of + ": unknown word '" + name + "'" +
         (meant.empty() ? "" : "; did you mean " + meant + "?") + "\n";
}

}  // namespace

CLI::Validator not_empty() {
  return {[](const std::string& text) {
            return text.empty() ? "got '', which names nothing; name one, or leave the option out"
                                : std::string();
          },
          ""};
}

std::string what_was_wrong(const CLI::App* program, const CLI::Error& error) {
  std::string text = std::string("ringcheck: ") + error.what() + "\n";
  std::string help = "ringcheck --help";
  const auto given = program->get_subcommands();
  if (!given.empty()) {
    const std::string own = "ringcheck " + given.front()->get_name();
    help = own + " --help";
    if (const Words left = given.front()->remaining(); !left.empty())
      text = unexpected(left.front(), own, options_of(*given.front()));
  } else if (const Words left = program->remaining(); !left.empty()) {
    Words known = subcommands_of(*program);
    const Words options = options_of(*program);
    const std::string names = c10::Join(", ", known);
    known.insert(known.end(), options.begin(), options.end());
    text = unexpected(left.front(), "ringcheck", known) + "subcommands: " + names + "\n";
  }
  return text + "Run " + help + " for more information.\n";
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
