// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The subject "planted[BUG]": ours with a bug of the catalogue in it. What its failure looks like.
#include <ranges>

#include "parity/case/text/nearest.h"
#include "parity/faults/fault.h"

namespace ringcheck::parity {
namespace {

// Those that sit in the subject, and not in the judging.
std::vector<std::string> bugs() {
  std::vector<std::string> names;
  for (const auto& [name, fault] : Faults::all())
    if (fault.subject) names.push_back(name);
  return names;
}

const Subjects::Add registered{"planted", [](const std::vector<std::string>& arguments) {
  const std::vector<std::string> known = bugs();
  const std::string name = arguments.size() == 1 ? arguments.front() : "";
  if (std::ranges::find(known, name) != known.end()) return Faults::at(name).subject;
  const std::string meant = nearest(name, known);
  throw BadCase("subject planted takes one bug, for example planted[causal_sees_next_key]; got '" +
                name + "'" + (meant.empty() ? "" : ": did you mean " + meant + "?") +
                "; ringcheck faults --list shows all");
}};

}  // namespace
}  // namespace ringcheck::parity
