// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "parity/judge/verdict.h"

namespace ringcheck::bench {

// Relative Frobenius norm of the error of o, lse, dq, dk and dv against float64; of a sample where only
// that was judged.
using Errors = std::map<std::string, double>;

// What becomes of a case, the same on all ranks; on the first one the first thing that is not as it should
// be, where that is said, and the errors.
struct Judged {
  parity::Status status = parity::Status::kPass;
  std::string why = {};
  Errors errors = {};
};

Judged judged(const parity::Verdict& verdict);

}  // namespace ringcheck::bench
