// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include "parity/judge/comparison.h"
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

std::vector<Run> runs(const Case& test) { return std::vector<Run>(4, Run{test}); }

size_t distinct(const Evidence& e) {
  std::vector<const Outcome*> found{&e.outcome};
  for (const Outcome& run : e.variations)
    if (std::ranges::none_of(found, [&](const Outcome* other) { return same_values(run, *other); }))
      found.push_back(&run);
  return found.size();
}

// Same input, same truth: the runs share the bounds of the first.
OracleVerdict judge(const Evidence& e) {
  const Measured first = measured(e, {e.test}, e.outcome);
  std::vector<OracleVerdict> parts;
  for (const Outcome& run : e.variations) {
    Measured other{run.tensors, first.bound, first.sigma};
    parts.push_back(agree(e.test, other, first));
  }
  OracleVerdict verdict = all_of(std::move(parts));
  if (const size_t results = distinct(e); results > 1)
    verdict.findings.push_back(c10::str(results, " distinct results in ", e.variations.size() + 1,
                                        " runs"));
  return verdict;
}

const Oracles::Add registered{
    "run-to-run",
    {"runs of the same F differ by no more than two correct runs may; distinct results are "
     "counted",
     judge,
     runs, Oracle::Rigour::kBound, "further runs, and parity of one"}};

}  // namespace
}  // namespace ringcheck::parity
