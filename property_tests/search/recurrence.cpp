// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/search/recurrence.h"

namespace ringcheck::search {

std::string to_text(const Recurrence& recurrence) {
  if (recurrence.runs == 0)
    return "not run again";
  if (recurrence.failed == recurrence.runs)
    return "deterministic";
  const std::string share =
      ", " + std::to_string(recurrence.failed) + " of " + std::to_string(recurrence.runs);
  return (recurrence.failed == 0 ? "not reproduced" : "intermittent") + share;
}

bool fails(const parity::Verdict& verdict) {
  return verdict.status == parity::Status::kFail || verdict.status == parity::Status::kHang ||
         verdict.status == parity::Status::kCrash;
}

Recurrence run_again(Workers& workers, const parity::Case& test, int runs) {
  Recurrence recurrence;
  for (; recurrence.runs < runs; ++recurrence.runs)
    recurrence.failed += fails(workers.run(test));
  return recurrence;
}

}  // namespace ringcheck::search
