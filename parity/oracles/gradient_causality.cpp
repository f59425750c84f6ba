// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"
#include "parity/judge/truth.h"

namespace ringcheck::parity {
namespace {

// Queries before it change.
int64_t cut(const Case& test) { return test.seq / 2; }

// The keys that none of those queries sees.
std::vector<int64_t> unconcerned(const Case& test) {
  const Mask mask = mask_of(test);
  std::vector<int64_t> keys;
  for (int64_t j = 0; j < test.seq; ++j) {
    bool seen = false;
    for (int64_t i = 0; i < cut(test) && !seen; ++i) seen = visible(mask, i, j);
    if (!seen) keys.push_back(j);
  }
  return keys;
}

std::vector<Run> runs(const Case& test) {
  if (cut(test) == 0 || unconcerned(test).empty() || fills_its_range(test)) return {};
  const int64_t first = cut(test);
  return {disturbed(test, {&Problem::q, &Problem::d_o}, [first](int64_t p) { return p < first; })};
}

// What is masked has a probability of exactly zero.
OracleVerdict judge(const Evidence& e) {
  const at::Tensor keys =
      at::tensor(unconcerned(e.test), e.outcome.tensors.o.options().dtype(at::kLong));
  const auto of_keys = [&](const reference::Tensors& x) {
    const auto picked = [&](const at::Tensor& t) {
      return t.defined() ? t.index_select(2, keys) : t;
    };
    return reference::Tensors{{}, {}, {}, picked(x.dk), picked(x.dv)};
  };
  return identical(e.test, of_keys(e.variations.front().tensors), of_keys(e.outcome.tensors));
}

const Oracles::Add registered{
    "gradient-causality",
    {"q and dO of queries that do not see key j change no bit of dK_j and dV_j", judge, runs,
     Oracle::Rigour::kExact, "further runs", "room for larger numbers in the dtype",
     {.same_bits = true}}};

}  // namespace
}  // namespace ringcheck::parity
