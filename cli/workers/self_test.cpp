// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/self_test.h"

#include "cli/subcommand.h"
#include "parity/faults/self_test/self_test.h"

namespace ringcheck::cli {

parity::AskOracle judging_with(const std::string& fault) {
  if (fault.empty())
    return parity::judge_plainly;
  const auto found = parity::Faults::all().find(fault);
  if (found == parity::Faults::all().end() || !found->second.judging)
    throw UsageError("--plant-in-judging: '" + fault +
                     "' is no fault of the judging; see "
                     "ringcheck faults --list --fault harness");
  return found->second.judging();
}

}  // namespace ringcheck::cli
