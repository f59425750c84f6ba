// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "cp/shard.h"
#include "parity/comparison.h"
#include "parity/oracle.h"
#include "parity/reference_rope.h"
#include "reference/rope.h"
#include "reference/turn.h"

namespace ringcheck::parity {
namespace {

// A rotated pair (a, b) may be off by |a| + |b| times the error of sine and cosine, two units of
// the accumulation type and the products, and by its one rounding to the dtype. In float64 nothing
// rounds the frequency to fewer bits: two evaluations of it differ by some units, and the angle of
// position p by p times as many. As sigma serves a third of it: rounding errors are bounded, not
// Gaussian.
TensorVerdict judge_tensor(const Case& test, const char* name, const at::Tensor& actual,
                           const at::Tensor& given) {
  const reference::Rope rope = reference_rope(test);
  const at::Tensor unrotated = zero_pads(given, mask_of(test), {{0, test.seq}}).to(at::kDouble);
  const at::Tensor value = reference::rotate(unrotated, mask_of(test), rope);
  const at::Tensor one = at::ones({}, at::kDouble);
  const at::Tensor magnitude =  // |a| + |b| of the pair
      reference::mix_pairs(unrotated.abs(), rope.pairing, one, one, one);
  const reference::Contract contract = contract_of(test);
  const double rounding = test.dtype == at::kFloat ? 0x1p-24 : contract.u_o;
  const double angle = test.dtype == at::kDouble ? 16 * static_cast<double>(test.seq) : 0;
  const at::Tensor turning = magnitude * ((8 + angle) * contract.u_a);
  const at::Tensor bound = turning + (value.abs() + turning) * rounding +
                           at::where(magnitude > 0, contract.eta_o + contract.eta_e, 0.0);
  return compare(test, name, actual, value, bound, bound / 3);
}

OracleVerdict judge(const Evidence& evidence) {
  OracleVerdict verdict;
  if (evidence.test.rope.pairing == Rope::Pairing::kNone || !evidence.outcome.q_rotated.defined()) {
    verdict.status = Status::kNotApplicable;
    return verdict;
  }
  verdict.tensors = {
      judge_tensor(evidence.test, "q", evidence.outcome.q_rotated, evidence.problem.q),
      judge_tensor(evidence.test, "k", evidence.outcome.k_rotated, evidence.problem.k)};
  for (const TensorVerdict& tensor : verdict.tensors)
    if (tensor.status == Status::kFail) {
      verdict.status = Status::kFail;
      verdict.findings.push_back("rotated " + tensor.tensor + ": " + tensor.worst);
    }
  return verdict;
}

const Oracles::Add registered{
    "rope", {"q and k are rotated by the global position of their slot in its document", judge,
             {}, Oracle::Rigour::kBound, "S d a head"}};

}  // namespace
}  // namespace ringcheck::parity
