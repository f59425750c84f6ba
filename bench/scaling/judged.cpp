// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/scaling/judged.h"

#include <vector>

#include "cli/to_result.h"
#include "reports/text.h"

namespace ringcheck::bench {

Judged judged(const parity::Verdict& verdict) {
  const std::vector<std::string> findings = reports::findings_of(cli::to_result(verdict));
  Judged said{verdict.status, findings.empty() ? verdict.reason : findings.front()};
  for (const parity::OracleVerdict& oracle : verdict.oracles)
    if (oracle.name == "parity")
      for (const parity::TensorVerdict& tensor : oracle.tensors) said.errors[tensor.tensor] = tensor.relative;
  return said;
}

}  // namespace ringcheck::bench
