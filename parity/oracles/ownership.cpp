// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include "parity/judge/exact/exact.h"
#include "parity/judge/exact/keys_counted.h"

namespace ringcheck::parity {
namespace {

// How far n O may be from the whole number `count`. Storing O, and 16-bit partial results, errs by a
// unit roundoff of O, and by half of one at most, as O is at most 1; merging errs as in (4) of
// docs/numerics.md. [batch, q_heads, seq, blocks], as count.
at::Tensor error_of_count(const Promise& promise, const at::Tensor& n, const at::Tensor& count) {
  const reference::Contract& c = promise.contract;
  const double rounding = c.u_o + (c.u_m > c.u_a ? c.u_m : 0);
  const at::Tensor merging = c.u_a * (c.c_e + 4.0 * promise.partials * (1 + n.clamp_min(1).log()));
  return rounding * at::minimum(count, n.unsqueeze(3) / 2) + merging.unsqueeze(3) * count;
}

// How many keys each query normalised by: what its LSE says, where that is a number.
at::Tensor normaliser(const Outcome& outcome, const at::Tensor& n, at::IntArrayRef sizes) {
  const at::Tensor expected = n.expand(sizes);
  const at::Tensor& lse = outcome.tensors.lse;
  if (!lse.defined() || lse.sizes() != sizes) return expected;
  const at::Tensor counted = lse.cpu().to(at::kDouble).exp().round();
  return at::where(counted.isfinite() & (counted <= 2 * expected), counted, expected);
}

OracleVerdict judge(const Evidence& evidence) {
  const Case& test = evidence.test;
  if (test.data != "census") return not_applicable("v does not say to which block a key belongs");
  const Promise promise = evidence.promise();
  const at::Tensor n = keys_seen(test);
  // Where all keys in one block could be told from one less: fewer than 256 in bf16, 2048 in fp16.
  const at::Tensor judged = error_of_count(promise, n, n.unsqueeze(3)).squeeze(3) < 0.5;
  if (!judged.any().item<bool>())
    return not_applicable("no query sees so few keys that its O can tell one more or less");
  const at::Tensor expected = for_query_heads(test, sum_of_visible(evidence, evidence.problem.v));
  const at::Tensor& o = evidence.outcome.tensors.o;
  if (o.sizes() != expected.sizes()) return verdict_of({compare_exact(test, "o", o, expected)});
  const at::Tensor wide = o.cpu().to(at::kDouble);
  OracleVerdict verdict = verdict_of({compare_exact(
      test, "o", at::where(judged.unsqueeze(3), wide * n.unsqueeze(3), expected), expected,
      error_of_count(promise, n, expected))});
  if (verdict.status == Status::kFail) {
    const at::Tensor seen = normaliser(evidence.outcome, n, expected.sizes().slice(0, 3));
    const at::Tensor counted = (wide * seen.unsqueeze(3)).round();
    for (std::string& finding :
         miscounts(test, {counted, expected, judged,
                          for_query_heads(test, evidence.problem.v).nan_to_num()}))
      verdict.findings.push_back(std::move(finding));
  }
  if (!judged.all().item<bool>())
    verdict.findings.push_back(c10::str(judged.logical_not().sum().item<int64_t>(), " of ", judged.numel(),
                                        " queries see more keys than O can count"));
  return verdict;
}

const Oracles::Add registered{
    "ownership",
    {"where q = 0 and v_j is one-hot by block, n_i O_i is the number of the keys of each block that i "
     "sees",
     judge, {}, Oracle::Rigour::kExact, "S x S a mask, S x S x dv a head"}};

}  // namespace
}  // namespace ringcheck::parity
