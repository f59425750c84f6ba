// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "parity/faults/self_test/known_truths.h"
#include "parity/faults/self_test/known_verdicts.h"
#include "parity/faults/self_test/self_test.h"
#include "parity/judge/device_test.h"
#include "parity/subject/ours.h"

namespace ringcheck::parity {
namespace {

// Those of the judging, and those that some case draws.
std::vector<std::string> asked_by(const std::vector<Case>& cases, const Judging& judging) {
  std::set<std::string> names(judging.oracles.begin(), judging.oracles.end());
  if (judging.drawn)
    for (const Case& test : cases)
      for (const std::string& name : drawn_oracles(test, *subject_of(test)))
        names.insert(name);
  return {names.begin(), names.end()};
}

}  // namespace

void test_before(const std::vector<Case>& cases, const Judging& judging, const AskOracle& judge) {
  const std::vector<std::string> oracles = asked_by(cases, judging);
  SelfTest result = self_test(at::kDouble, oracles, judge);
  examine_limits(oracles, judge, result);
  if (judging.sample > 0)
    examine_sample(judging.sample, judge, result);
  examine_elements({}, result);
  examine_rules({}, result);
  if (judging.drawn)
    examine_draws(drawn_oracles, result);
  examine_failures(verify_within, result);
  examine_judged(result);
  examine_truth(true_judgement, result);
  examine_closed_forms(result);
  if (!result.failures.empty()) {
    const size_t more = result.failures.size() - 1;
    throw SelfTestFailed("self-test: " + result.failures.front() +
                         (more > 0 ? " (and " + std::to_string(more) + " more)" : ""));
  }
}

}  // namespace ringcheck::parity
