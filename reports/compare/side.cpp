// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/compare/side.h"

#include <nlohmann/json.hpp>

#include "reports/machine.h"

namespace ringcheck::reports {
namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
  return text;
}

void check_like(const Side& side, size_t at, const Result& first, const std::string& name,
                const Ignored& ignored) {
  const Result& run = side.runs[at];
  if (run.kind != first.kind)
    throw Incomparable("'" + side.names[at] + "' is of kind " + to_text(run.kind) + ", '" + name +
                       "' of kind " + to_text(first.kind) + "; want results of one program");
  const auto found = differences(machine_of(first.environment), machine_of(run.environment));
  if (!found.empty() && !ignored.machines)
    throw Incomparable("'" + name + "' and '" + side.names[at] + "' are of different machines: " +
                       joined(found) + "; --across-machines compares them all the same");
}

std::string without(std::map<std::string, std::string> parts, const std::set<std::string>& names) {
  for (const std::string& name : names) parts.erase(name);
  return nlohmann::json(parts).dump();
}

}  // namespace

void check_comparable(const Side& base, const Side& new_, const Ignored& ignored) {
  const Result& first = base.runs.front();
  for (const Side* side : {&base, &new_})
    for (size_t i = 0; i < side->runs.size(); ++i) {
      check_like(*side, i, first, base.names.front(), ignored);
      if (side->runs[i].cases.empty() && side->runs[i].measurements.empty())
        throw Incomparable("'" + side->names[i] + "', of kind " + to_text(side->runs[i].kind) +
                           ", has neither cases nor measurements; want a result of verify, "
                           "ringcheck_bench or ringcheck_scaling");
    }
}

std::string key_of(const CaseResult& test, const Ignored& ignored) {
  return ignored.parts.empty() ? test.name : without(test.parts, ignored.parts);
}

std::string key_of(const Measurement& one, const Ignored& ignored) {
  return one.name + " of " + without(one.parts, ignored.parts);
}

}  // namespace ringcheck::reports
