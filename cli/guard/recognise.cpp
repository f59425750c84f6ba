// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/guard/recognise.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <numeric>

#include "cli/guard/factor_text.h"
#include "parity/judge/comparison.h"
#include "parity/judge/conservation/factors.h"

namespace ringcheck::cli {
namespace {

using parity::AttentionShard;
using parity::Fit;

// Applies `cut` to every tensor of the queries, and another to those of the keys.
template <class OfQueries, class OfKeys>
AttentionShard cut(const AttentionShard& x, const OfQueries& of_queries, const OfKeys& of_keys) {
  const auto queries = [&](const at::Tensor& t) { return of_queries(t).clone(); };
  const auto keys = [&](const at::Tensor& t) { return of_keys(t).clone(); };
  return {queries(x.q), queries(x.d_o), queries(x.o), queries(x.dq), keys(x.k), keys(x.v),
          keys(x.dk), keys(x.dv), x.empty_rows.defined() ? queries(x.empty_rows) : at::Tensor()};
}

AttentionShard heads_of(const AttentionShard& x, int64_t batch, int64_t kv_head, int64_t repeats) {
  const int64_t group = x.q.size(1) / x.k.size(1);
  return cut(
      x,
      [&](const at::Tensor& t) {
        return t.narrow(0, batch, 1).narrow(1, kv_head * group, repeats * group);
      },
      [&](const at::Tensor& t) { return t.narrow(0, batch, 1).narrow(1, kv_head, 1); });
}

AttentionShard transposed(const AttentionShard& x) {
  const auto exchanged = [](const at::Tensor& t) { return t.transpose(1, 2); };
  return cut(x, exchanged, exchanged);
}

AttentionShard strided(const AttentionShard& x, int64_t batch, int64_t kv_head) {
  return cut(
      x,
      [&](const at::Tensor& t) {
        return t.narrow(0, batch, 1).slice(1, kv_head, std::nullopt, x.k.size(1));
      },
      [&](const at::Tensor& t) { return t.narrow(0, batch, 1).narrow(1, kv_head, 1); });
}

// The run of equal k heads around this one.
std::pair<int64_t, int64_t> equal_heads(const at::Tensor& k, int64_t kv_head) {
  const auto equal = [&](int64_t other) { return k.select(1, other).equal(k.select(1, kv_head)); };
  int64_t begin = kv_head, end = kv_head + 1;
  while (begin > 0 && equal(begin - 1)) --begin;
  while (end < k.size(1) && equal(end)) ++end;
  return {begin, end};
}

void add_readings(const AttentionShard& x, int64_t batch, int64_t kv_head,
                  parity::Readings& readings) {
  readings.plain.push_back(heads_of(x, batch, kv_head, 1));
  if (x.k.size(1) > 1 && x.q.size(1) > x.k.size(1))
    readings.strided.push_back(strided(x, batch, kv_head));
  if (const auto [begin, end] = equal_heads(x.k, kv_head); end - begin > 1)
    readings.repeated.push_back(heads_of(x, batch, begin, end - begin));
  if (x.k.size(2) > 0 && x.q.size(2) % x.k.size(2) == 0)
    readings.transposed.push_back(heads_of(transposed(x), batch, 0, 1));
}

parity::Readings read_again(const Guarded& all) {
  const auto worst = std::ranges::max_element(all.laws, {}, [](const parity::LawVerdict& law) {
    return law.status == parity::Status::kFail ? law.z : 0;
  });
  std::vector<size_t> order(all.files.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](size_t file) { return all.ranks[file]; });
  parity::Readings readings;
  for (const size_t file : order)
    add_readings(read_guard_file(all.files[file]).shard, worst->batch, worst->kv_head, readings);
  for (auto* other : {&readings.transposed, &readings.strided, &readings.repeated})
    if (other->size() < order.size()) other->clear();
  return readings;
}

// The reading that PyTorch's attention on CPUs asks for.
std::optional<Fit> coarse_sums(const Guarded& all) {
  if (all.how.gradients) return std::nullopt;
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    if (all.dtypes.count(type) == 0) continue;
    const std::string text = parity::dtype_text(type) + "[256]";
    parity::Arithmetic how = all.how;
    how.gradients = parity::parse_accumulation(text);
    if (explained(all.laws, judge_conservation(all.sums, how)))
      return Fit{"accumulation",
                 "gradients added up in " + parity::dtype_text(type) +
                     ", as PyTorch's attention on CPUs does; where the kernel does, say "
                     "--accumulation " + text};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Fit> recognise(const Guarded& all) {
  std::vector<Fit> fits;
  for (const parity::Factor& factor : fitting_factors(all.parts, all.how))
    fits.push_back({"factor", factor_text(factor, all), factor.value});
  std::ranges::move(parity::fitting_mistakes(read_again(all), all.how), std::back_inserter(fits));
  if (!fits.empty()) return fits;
  if (auto fit = coarse_sums(all)) fits.push_back(std::move(*fit));
  return fits;
}

}  // namespace ringcheck::cli
