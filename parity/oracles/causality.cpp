// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// The first position that changes.
int64_t cut(const Case& test) { return test.seq / 2; }

// The queries that see no key from there on.
std::vector<int64_t> unconcerned(const Case& test) {
  const Mask mask = mask_of(test);
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < test.seq; ++i) {
    bool sees = false;
    for (int64_t j = cut(test); j < test.seq && !sees; ++j) sees = visible(mask, i, j);
    if (!sees) rows.push_back(i);
  }
  return rows;
}

std::vector<Run> runs(const Case& test) {
  if (unconcerned(test).empty()) return {};
  const int64_t first = cut(test);
  return {disturbed(test, {&Problem::k, &Problem::v}, [first](int64_t p) { return p >= first; })};
}

OracleVerdict judge(const Evidence& e) {
  const at::Tensor rows = at::tensor(unconcerned(e.test), e.outcome.tensors.o.options().dtype(at::kLong));
  const auto early = [&](const reference::Tensors& x) {
    return reference::Tensors{x.o.index_select(2, rows), x.lse.index_select(2, rows),
                              x.dq.index_select(2, rows), {}, {}};
  };
  return identical(e.test, early(e.variations.front().tensors), early(e.outcome.tensors));
}

const Oracles::Add registered{
    "causality",
    {.proves = "K and V at positions that query i may not see change no bit of O_i, LSE_i and dQ_i",
     .judge = judge, .variations = runs, .rigour = Oracle::Rigour::kExact, .cost = "further runs",
     .demand = {.same_bits = true}, .reads = {"lse", "dq"}}};

}  // namespace
}  // namespace ringcheck::parity
