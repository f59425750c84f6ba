// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <cmath>

#include "parity/judge/exact/exact.h"
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// A token in the middle: nobody's last, nobody's first.
std::optional<int64_t> token(const Case& test) {
  const Mask mask = mask_of(test);
  for (int64_t p = test.seq / 2; p < test.seq; ++p)
    if (is_token(mask, p)) return p;
  return std::nullopt;
}

// One channel of one token, of the first head of the first batch entry.
Run spoilt(const Case& test, at::Tensor Problem::*which, int64_t position) {
  return changed(test, [=](Problem& p, const std::vector<int64_t>& positions) {
    for (size_t slot = 0; slot < positions.size(); ++slot)
      if (positions[slot] == position)
        (p.*which)[0][0][static_cast<int64_t>(slot)][0].fill_(NAN);
  });
}

std::vector<Run> runs(const Case& test) {
  const auto p = token(test);
  if (!p) return {};
  return {spoilt(test, &Problem::v, *p), spoilt(test, &Problem::d_o, *p)};
}

// Elements [seq] of the named tensor that should be NaN where `sees` says so, and are numbers.
TensorVerdict all_nan(const Case& test, const char* name, const at::Tensor& tensor,
                      const at::Tensor& elements, const std::function<bool(int64_t)>& sees) {
  if (!tensor.defined()) return withheld(name);
  TensorVerdict verdict;
  verdict.tensor = name;
  const at::Tensor found = elements.isnan().cpu().contiguous();
  int64_t wrong = 0;
  for (int64_t p = 0; p < test.seq; ++p) {
    if (!sees(p) || found.const_data_ptr<bool>()[p]) continue;
    if (wrong++ == 0)
      verdict.worst = c10::str("batch 0, head 0, position ", p, " sees a NaN and is a number");
  }
  if (wrong > 0) {
    verdict.status = Status::kFail;
    verdict.worst += c10::str("; so are ", wrong - 1, " more");
  }
  return verdict;
}

// [seq] of batch entry 0, head 0, channel 0.
at::Tensor first(const at::Tensor& x) { return x.defined() ? x[0][0].select(1, 0) : x; }

OracleVerdict judge(const Evidence& e) {
  const Mask mask = mask_of(e.test);
  const int64_t spoilt = token(e.test).value();
  const reference::Tensors &of_value = e.variations[0].tensors, &of_cotangent = e.variations[1].tensors;
  const auto queries = [&](int64_t q) { return visible(mask, q, spoilt); };
  const auto keys = [&](int64_t k) { return visible(mask, spoilt, k); };
  return all_of({verdict_of({all_nan(e.test, "o", of_value.o, first(of_value.o), queries),
                             all_nan(e.test, "dv", of_cotangent.dv, first(of_cotangent.dv), keys)})});
}

const Oracles::Add registered{
    "visible-nan",
    {.proves = "a NaN in V reaches O of every query that sees it, one in dO dV of every key seen",
     .judge = judge, .variations = runs, .rigour = Oracle::Rigour::kExact, .cost = "further runs",
     .needs = "a token behind the middle"}};

}  // namespace
}  // namespace ringcheck::parity
