// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/failures.h"

namespace ringcheck::reports {
namespace {

void add(std::map<std::string, bool>& failures, const OracleResult& oracle) {
  bool in_tensor = false;
  for (const TensorResult& tensor : oracle.tensors)
    if (tensor.verdict == Status::kFail) {
      failures[oracle.name + ": " + tensor.tensor] = oracle.contract;
      in_tensor = true;
    }
  if (!in_tensor) failures[oracle.name] = oracle.contract;
}

}  // namespace

bool was_judged(Status verdict) { return verdict == Status::kPass || verdict == Status::kFail; }

std::map<std::string, bool> failures_of(const CaseResult& test) {
  std::map<std::string, bool> failures;
  if (test.verdict == Status::kHang || test.verdict == Status::kCrash)
    failures[to_text(test.verdict)] = false;
  if (test.verdict != Status::kFail) return failures;
  for (const OracleResult& oracle : test.oracles)
    if (oracle.verdict == Status::kFail) add(failures, oracle);
  if (failures.empty()) failures[to_text(test.verdict)] = false;
  return failures;
}

}  // namespace ringcheck::reports
