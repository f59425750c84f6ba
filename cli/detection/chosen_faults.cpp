// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/detection/chosen_faults.h"

#include <algorithm>

#include "cli/usage_error.h"
#include "cli/verify/part_lists.h"
#include "parity/case/text/nearest.h"
#include "parity/faults/fault.h"

namespace ringcheck::cli {
namespace {

using parity::Faults;
using Words = std::vector<std::string>;

// By any of which a fault is asked for.
Words words_of(const std::string& name, const parity::Fault& fault) {
  Words words{name, fault.group};
  words.insert(words.end(), fault.operators.begin(), fault.operators.end());
  return words;
}

bool is_in(const std::string& word, const Words& words) {
  return std::ranges::find(words, word) != words.end();
}

void check_known(const Words& asked) {
  Words known;
  for (const auto& [name, fault] : Faults::all())
    for (const std::string& word : words_of(name, fault)) known.push_back(word);
  for (const std::string& word : asked) {
    if (is_in(word, known)) continue;
    const std::string meant = parity::nearest(word, known);
    throw UsageError("--fault: unknown fault '" + word + "'; " +
                     (meant.empty() ? "" : "did you mean '" + meant + "'? ") +
                     "want a name, a group or an operator such as M13: see ringcheck faults --list");
  }
}

}  // namespace

Words chosen_faults(const Words& lists) {
  const Words asked = split_values("--fault", lists);
  check_known(asked);
  Words names;
  for (const auto& [name, fault] : Faults::all()) {
    const Words own = words_of(name, fault);
    const auto says = [&](const std::string& word) { return is_in(word, own); };
    if (asked.empty() || std::ranges::any_of(asked, says)) names.push_back(name);
  }
  return names;
}

}  // namespace ringcheck::cli
