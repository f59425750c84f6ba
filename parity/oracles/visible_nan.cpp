// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <cmath>

#include "parity/judge/exact/exact.h"
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// A token in the middle of the first batch entry: nobody's last, nobody's first.
std::optional<int64_t> token(const Case& test) {
  const Mask mask = mask_of(test, 0);
  for (int64_t p = test.seq / 2; p < test.seq; ++p)
    if (is_token(mask, p)) return p;
  return std::nullopt;
}

// There is an element that no NaN of one channel of one head can reach.
bool has_others(const Case& test) { return test.batch * test.kv_heads * test.dim_v > 1; }

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
  if (!p || !has_others(test)) return {};
  return {spoilt(test, &Problem::v, *p), spoilt(test, &Problem::d_o, *p)};
}

// NaN among what a NaN of the first channel of the first `heads` heads cannot reach: other channels,
// other heads, other batch entries.
int64_t strays(const at::Tensor& tensor, int64_t heads) {
  const at::Tensor elsewhere = tensor.isnan();
  elsewhere[0].narrow(0, 0, heads).select(2, 0).fill_(false);
  return elsewhere.sum().item<int64_t>();
}

// A tensor whose first `heads` heads of batch entry 0 should be NaN in channel 0 where `sees` says so,
// and nowhere else but there.
TensorVerdict all_nan(const Case& test, const char* name, const at::Tensor& tensor, int64_t heads,
                      const std::function<bool(int64_t)>& sees) {
  if (!tensor.defined()) return withheld(name);
  TensorVerdict verdict;
  verdict.tensor = name;
  verdict.compared = tensor.numel();
  if (const int64_t count = strays(tensor, heads); count > 0) {
    verdict.status = Status::kFail;
    verdict.worst = c10::str(count, " elements of other channels, heads or batch entries are NaN");
    return verdict;
  }
  const at::Tensor found = tensor[0][0].select(1, 0).isnan().cpu().contiguous();
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

OracleVerdict judge(const Evidence& e) {
  const Mask mask = mask_of(e.test, 0);
  const int64_t spoilt = token(e.test).value();
  const reference::Tensors &of_value = e.variations[0].tensors, &of_cotangent = e.variations[1].tensors;
  const auto queries = [&](int64_t q) { return visible(mask, q, spoilt); };
  const auto keys = [&](int64_t k) { return visible(mask, spoilt, k); };
  const int64_t group = e.test.q_heads / e.test.kv_heads;
  return verdict_of({all_nan(e.test, "o", of_value.o, group, queries),
                     all_nan(e.test, "dv", of_cotangent.dv, 1, keys)});
}

const Oracles::Add registered{
    "visible-nan",
    {.proves = "a NaN in V reaches O of every query that sees it, one in dO dV of every key seen, and "
               "neither another channel, head or batch entry",
     .judge = judge, .variations = runs, .rigour = Oracle::Rigour::kExact, .cost = "further runs",
     .needs = "a token behind the middle, and more than one channel"}};

}  // namespace
}  // namespace ringcheck::parity
