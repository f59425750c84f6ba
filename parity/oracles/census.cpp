// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <cmath>

#include "parity/judge/exact/exact.h"
#include "parity/judge/exact/keys_counted.h"

namespace ringcheck::parity {
namespace {

// How far exp(LSE) may be from a whole number. All scores are 0, so the sums of exponentials are
// whole numbers and exact; merging them in logarithms errs as in (3) of docs/numerics.md. Below a
// half, it is told which number: some 20000 keys in float32 over 8 ranks.
at::Tensor error_of_count(const Promise& promise, const at::Tensor& n) {
  const reference::Contract& c = promise.contract;
  return n * c.u_a * (c.c_e + 4.0 * (1 + promise.partials) * (1 + n.clamp_min(1).log()));
}

OracleVerdict judge(const Evidence& evidence) {
  const Case& test = evidence.test;
  if (test.data != "census" && test.data != "snap") return not_applicable("scores are not all 0");
  const at::Tensor n = keys_seen(test), error = error_of_count(evidence.promise(), n), judged = error < 0.5;
  const at::Tensor expected = n.expand({test.batch, test.q_heads, test.seq}).contiguous();
  const at::Tensor& lse = evidence.outcome.tensors.lse;
  if (!judged.any().item<bool>())
    return not_applicable("no query sees so few keys that its LSE can tell one more or less");
  if (!lse.defined() || lse.sizes() != expected.sizes())
    return verdict_of({compare_exact(test, "lse", lse, expected)});
  const at::Tensor wide = lse.cpu().to(at::kDouble);
  const at::Tensor counted =  // only -inf says that there are no keys
      at::where(n.eq(0) & wide.isneginf().logical_not(), NAN, wide.exp());
  OracleVerdict verdict = verdict_of({compare_exact(
      test, "lse", at::where(judged, counted, expected), expected, error)});
  if (verdict.status == Status::kFail)
    for (std::string& finding : miscounts(
             test, {counted.round().unsqueeze(3), expected.unsqueeze(3), judged,
                    at::ones({test.batch, test.q_heads, test.seq, 1}, at::kDouble)}))
      verdict.findings.push_back(std::move(finding));
  if (!judged.all().item<bool>())
    verdict.findings.push_back(c10::str(judged.logical_not().sum().item<int64_t>(), " of ", judged.numel(),
                                        " queries see more keys than LSE can count"));
  return verdict;
}

const Oracles::Add registered{
    "census",
    {"where q = 0, exp(L_i) is the number n_i of the keys that i sees", judge,
     {}, Oracle::Rigour::kExact, "S a head"}};

}  // namespace
}  // namespace ringcheck::parity
