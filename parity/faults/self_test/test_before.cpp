// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/self_test/known_truths.h"
#include "parity/faults/self_test/known_verdicts.h"
#include "parity/faults/self_test/self_test.h"
#include "parity/judge/device_test.h"

namespace ringcheck::parity {

void test_before(const std::vector<Case>& cases, const std::vector<std::string>& oracles,
                 const AskOracle& judge) {
  SelfTest result = self_test(at::kDouble, oracles, judge);
  examine_elements({}, result);
  examine_rules({}, result);
  examine_truth(true_judgement, result);
  examine_closed_forms(result);
  if (!result.failures.empty()) {
    const size_t more = result.failures.size() - 1;
    throw SelfTestFailed("self-test: " + result.failures.front() +
                         (more > 0 ? " (and " + std::to_string(more) + " more)" : ""));
  }
  test_devices_of(cases);
}

}  // namespace ringcheck::parity
