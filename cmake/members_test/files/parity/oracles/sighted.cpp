// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/comparison.h"
#include "parity/judge/exact/exact.h"
#include "parity/judge/oracle.h"

namespace ringcheck::parity {
namespace {

OracleVerdict judge(const Evidence& evidence) {
  OracleVerdict verdict;
  const at::Tensor& lse = evidence.outcome.tensors.lse;
  const Case& test = evidence.test;
  if (!lse.defined()) {
    verdict.status = Status::kNotApplicable;
    return verdict;
  }
  const at::Tensor sees = (keys_seen(test) > 0).expand(lse.sizes());
  const at::Tensor wrong = at::where(sees, lse.isfinite(), lse.isneginf()).logical_not();
  if (!wrong.any().item<bool>()) return verdict;
  verdict.status = Status::kFail;
  const int64_t first = wrong.flatten().nonzero()[0].item<int64_t>();
  verdict.findings.push_back(
      "lse at " + place_of(test, lse.sizes(), first) + " is " +
      std::to_string(lse.flatten()[first].item<double>()) +
      (sees.flatten()[first].item<bool>() ? ", though its query sees a key"
                                           : ", though its query sees no key"));
  return verdict;
}

const Oracles::Add registered{
    "sighted",
    {"L is finite where a query sees a key, and -inf where it sees none", judge, {},
     Oracle::Rigour::kExact, "S"}};

}  // namespace
}  // namespace ringcheck::parity
