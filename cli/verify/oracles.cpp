// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/oracles.h"

#include <c10/util/StringUtil.h>

#include <algorithm>

#include "cli/verify/part_lists.h"
#include "cli/subcommand.h"
#include "parity/case/text/nearest.h"
#include "parity/judge/runner.h"

namespace ringcheck::cli {

std::vector<std::string> parse_oracles(const std::string& text) {
  if (text.empty()) return parity::oracles_of_one_run();
  if (text == "all") return parity::all_oracles();
  std::vector<std::string> known = parity::all_oracles();
  known.insert(known.begin(), "all");
  const std::vector<std::string> names = split_values("--oracles", {text});
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      throw UsageError("--oracles: " + parity::unknown_name("oracle", name, known));
  if (std::ranges::find(names, "all") != names.end())
    throw UsageError("--oracles " + text + ": all asks every oracle; say all by itself, or leave "
                     "it out");
  return names;
}

parity::Judging judging_of(const std::string& text, int64_t sample, const std::string& kept) {
  return {parse_oracles(text), sample, text.empty() && sample == 0, kept};
}

std::string text_of(const std::vector<std::string>& oracles) {
  return c10::Join(",", oracles);
}

}  // namespace ringcheck::cli
