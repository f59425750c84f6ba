// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include "parity/judge/comparison.h"
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// One more batch entry, and one more key head with the query heads that read it.
Problem with_more(const Case& test, const Positions& positions) {
  const int64_t group = test.q_heads / test.kv_heads;
  const auto more = [](const at::Tensor& x, int64_t heads) {
    const at::Tensor wider = at::cat({x, x.narrow(1, 0, heads).neg()}, 1);
    return at::cat({wider, wider.narrow(0, 0, 1).neg()}, 0);
  };
  const Problem p = problem_of(test, positions);
  return {more(p.q, group), more(p.k, 1), more(p.v, 1), more(p.d_o, group)};
}

std::vector<Run> runs(const Case& test) {
  Case larger = test;
  larger.batch += 1;
  if (!test.lengths.empty()) larger.lengths.push_back(test.lengths.front());
  larger.q_heads += test.q_heads / test.kv_heads;
  larger.kv_heads += 1;
  return {{larger, [test](const Case&, const Positions& p) { return with_more(test, p); }}};
}

// The bits may be others, as a kernel may cut a larger problem otherwise: it is said how many are.
std::vector<std::string> other_bits(const Measured& alone, const Measured& together) {
  std::vector<std::string> findings;
  for (const auto& [name, tensor] : kTensors) {
    const at::Tensor &x = alone.value.*tensor, &y = together.value.*tensor;
    if (!x.defined() || !y.defined() || x.sizes() != y.sizes()) continue;
    if (const auto count = x.ne(y).sum().item<int64_t>())
      findings.push_back(c10::str(name, ": ", count, " of ", x.numel(),
                                  " elements have other bits in the larger batch"));
  }
  return findings;
}

OracleVerdict judge(const Evidence& e) {
  const Image inside = [&](const reference::Tensors& x) {
    const auto cut = [&](const at::Tensor& t, int64_t heads) {
      return t.defined() ? t.narrow(0, 0, e.test.batch).narrow(1, 0, heads) : t;
    };
    const int64_t q = e.test.q_heads, kv = e.test.kv_heads;
    return reference::Tensors{cut(x.o, q), cut(x.lse, q), cut(x.dq, q), cut(x.dk, kv),
                              cut(x.dv, kv)};
  };
  const Measured alone = measured(e, {e.test}, e.outcome);
  const Measured together =
      image(measured(e, runs(e.test).front(), e.variations.front()), inside);
  OracleVerdict verdict = agree(e.test, together, alone);
  for (std::string& finding : other_bits(alone, together))
    verdict.findings.push_back(std::move(finding));
  return verdict;
}

const Oracles::Add registered{
    "larger-batch",
    {"a head inside a larger batch with more heads is what it is alone, within the bounds of "
     "both; other bits are counted",
     judge, runs, Oracle::Rigour::kBound, "further runs, and parity of each"}};

}  // namespace
}  // namespace ringcheck::parity
