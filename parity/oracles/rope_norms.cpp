// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/exact/exact.h"
#include "parity/judge/reference_rope.h"
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Two units of sine, cosine, the products and their sum for each of a and b, and the rounding of
// the result: whatever the angle is. As sigma serves a third of it.
TensorVerdict keeps_norms(const Case& test, const reference::Contract& c, const char* name,
                          const at::Tensor& rotated, const at::Tensor& given) {
  if (rotated.sizes() != given.sizes()) return misshapen(name, rotated.sizes(), given.sizes());
  const auto pairing = reference_rope(test).pairing;
  const at::Tensor value = pair_norms(given, pairing);
  const double rounding = test.dtype == at::kFloat ? 0x1p-24 : c.u_o;
  const at::Tensor bound = value * (16 * c.u_a + rounding * (1 + 16 * c.u_a)) +
                           at::where(value > 0, 2 * (c.eta_o + c.eta_e), 0.0);
  return compare(test, name, pair_norms(rotated, pairing), value, bound, bound / 3);
}

// True for the first token of a document, [1, 1, seq, 1].
at::Tensor first_tokens(const Case& test, at::Device device) {
  const Mask mask = mask_of(test);
  at::Tensor first = at::zeros({test.seq}, at::kBool);
  const Documents* packed = documents(mask);
  for (int64_t p = 0; p < test.seq; ++p)
    first[p] = packed ? place(*packed, p).document >= 0 && place(*packed, p).token == 0 : p == 0;
  return first.view({1, 1, test.seq, 1}).to(device);
}

TensorVerdict judge_tensor(const Case& test, const reference::Contract& contract, const char* name,
                           const at::Tensor& rotated, const at::Tensor& given) {
  const at::Tensor before = without_pads(test, given).to(at::kDouble);
  const at::Tensor after = rotated.to(at::kDouble);
  TensorVerdict verdict = keeps_norms(test, contract, name, after, before);
  if (verdict.status == Status::kFail) return verdict;
  const at::Tensor first = first_tokens(test, before.device());
  TensorVerdict start = same_bits(test, name, at::where(first, after, before), before);
  return start.status == Status::kFail ? start : verdict;
}

OracleVerdict judge(const Evidence& e) {
  if (e.test.rope.pairing == Rope::Pairing::kNone) return not_applicable("nothing is rotated");
  if (!e.outcome.shows_rotated())
    return not_applicable("the subject does not show its rotated q and k");
  const reference::Contract contract = e.promise().contract;
  return verdict_of({judge_tensor(e.test, contract, "q", e.outcome.q_rotated, e.problem.q),
                     judge_tensor(e.test, contract, "k", e.outcome.k_rotated, e.problem.k)});
}

const Oracles::Add registered{
    "rope-norms",
    {"rotating keeps the norm of every pair of channels, within rounding, and the first token "
     "of a document bit for bit",
     judge, {}, Oracle::Rigour::kBound, "S d a head"}};

}  // namespace
}  // namespace ringcheck::parity
