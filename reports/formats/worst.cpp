// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/worst.h"

#include <cmath>

namespace ringcheck::reports {
namespace {

bool raise(double& largest, double value) {
  if (!std::isnan(value) && !(value > largest)) return false;
  largest = value;
  return true;
}

}  // namespace

std::map<std::pair<std::string, std::string>, Worst> worst_of(const Result& result) {
  std::map<std::pair<std::string, std::string>, Worst> all;
  for (const CaseResult& test : result.cases)
    for (const OracleResult& oracle : test.oracles)
      for (const TensorResult& tensor : oracle.tensors) {
        if (tensor.verdict == Status::kNotApplicable) continue;  // it was measured, and held to nothing
        Worst& worst = all[{oracle.name, tensor.tensor}];
        if (raise(worst.error, tensor.hard_ratio) || worst.test.empty()) worst.test = test.name;
        raise(worst.sigmas, tensor.max_z);
        if (tensor.verdict == Status::kPass) raise(worst.blind, tensor.vacuity);
      }
  return all;
}

}  // namespace ringcheck::reports
