// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/fault_effect.h"

#include "cp/error.h"

namespace ringcheck::parity {
namespace {

std::optional<Outcome> outcome_of(const Fault& fault, const Case& test, const SharedSubject& subject) {
  try {
    return ThreadRanks(deadline_of(fault)).solve({test}, *subject);
  } catch (const RankFailure&) {
    return std::nullopt;
  }
}

}  // namespace

std::chrono::milliseconds deadline_of(const Fault& fault) {
  return std::chrono::milliseconds(fault.hangs ? 300 : 20000);
}

std::optional<Outcome> faulty_outcome(const Fault& fault, const Case& test) {
  return outcome_of(fault, test, fault.subject);
}

bool changes_no_bit(const Fault& fault, const Case& test) {
  const auto faulty = faulty_outcome(fault, test), right = outcome_of(fault, test, fault.control);
  return faulty && right && same_values(*faulty, *right);
}

}  // namespace ringcheck::parity
