// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/conservation/mistakes.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <optional>

#include "parity/judge/conservation/orders.h"

namespace ringcheck::parity {
namespace {

using Files = Readings::Files;
using Tensor = at::Tensor AttentionShard::*;

struct Attempt {
  Fit fit;
  Files files;
  bool comparable = true;  // its differences are of the same sums as before
};
using Attempts = std::vector<Attempt>;

ConservationSums sums_of(const Files& files) {
  ConservationSums all;
  for (const AttentionShard& file : files) all = all + conservation_sums(file);
  return all;
}

template <class Change>
Files changed(Files files, const Change& change) {
  for (AttentionShard& file : files) change(file);
  return files;
}

void other_readings(const Readings& head, Attempts& attempts) {
  const auto add = [&](const char* mistake, const Files& files, const char* says) {
    if (!files.empty()) attempts.push_back({{mistake, says}, files});
  };
  add("layout", head.transposed,
      "tensors dumped as [batch, seq, heads, dim]; exchange sizes 1 and 2");
  if (!attempts.empty()) attempts.back().comparable = false;
  add("grouping", head.strided,
      "query head h that goes with kv head h modulo kv_heads, K and V repeated in whole; kv head "
      "h / group is asked for");
  add("expanded", head.repeated,
      "k, v, dk and dv repeated for each query head where dk and dv are sums over the group; keep "
      "one of each group");
}

void unreduced_heads(const Files& plain, Attempts& attempts) {
  const int64_t group = plain.front().q.size(1);
  for (int64_t head = 0; group > 1 && head < group; ++head)
    attempts.push_back(
        {{"unreduced", c10::str("dk and dv of query head ", head, " of each group of ", group,
                                " alone, not summed over the group")},
         changed(plain, [&](AttentionShard& x) {
           for (const Tensor t : {&AttentionShard::q, &AttentionShard::d_o, &AttentionShard::o,
                                  &AttentionShard::dq})
             x.*t = (x.*t).narrow(1, head, 1);
           if (x.empty_rows.defined()) x.empty_rows = x.empty_rows.narrow(1, head, 1);
         })});
}

void empty_queries(const Files& plain, Attempts& attempts) {
  if (std::ranges::any_of(plain, [](const auto& x) { return x.empty_rows.defined(); })) return;
  attempts.push_back(
      {{"empty_rows",
        "queries that see no key (their o and dq are zero, their do is not); dump lse, which is "
        "-inf there, or zeros for their do"},
       changed(plain, [](AttentionShard& x) {
         x.empty_rows = (x.o.ne(0).any(-1) | x.dq.ne(0).any(-1)).logical_not();
       })});
}

void exchanged_names(const Files& plain, Attempts& attempts) {
  static const std::pair<const char*, Tensor> kOfQueries[] = {
      {"q", &AttentionShard::q}, {"o", &AttentionShard::o},
      {"do", &AttentionShard::d_o}, {"dq", &AttentionShard::dq}};
  static const std::pair<const char*, Tensor> kOfKeys[] = {
      {"k", &AttentionShard::k}, {"v", &AttentionShard::v},
      {"dk", &AttentionShard::dk}, {"dv", &AttentionShard::dv}};
  for (const auto& side : {kOfQueries, kOfKeys})
    for (int a = 0; a < 4; ++a)
      for (int b = a + 1; b < 4; ++b) {
        const auto [name, one] = side[a];
        const auto [other_name, other] = side[b];
        if ((plain.front().*one).sizes() != (plain.front().*other).sizes()) continue;
        attempts.push_back(
            {{"names", c10::str(name, " and ", other_name, " dumped under each other's names")},
             changed(plain, [&](AttentionShard& x) { std::swap(x.*one, x.*other); })});
      }
}

void other_orders(const Files& plain, const std::vector<LawVerdict>& broken, Attempts& attempts) {
  for (Reordered& order : reordered(plain, broken))
    attempts.push_back({{"order", std::move(order.says)}, std::move(order.files)});
}

bool fails(const LawVerdict& law) { return law.status == Status::kFail; }

// C2 and C3 by channel are broken and C3 over all channels holds: a rotation of q and dq, and of k
// and dk, does just that.
std::optional<Fit> before_rope(const std::vector<LawVerdict>& broken, const ConservationSums& sums,
                               Arithmetic how) {
  if (!how.rotated || !fails(broken[1]) || !fails(broken[2])) return std::nullopt;
  how.rotated = false;
  const auto laws = judge_conservation(sums, how);
  if (std::ranges::any_of(laws, fails) || laws[2].status != Status::kPass) return std::nullopt;
  return Fit{"unrotated",
             "q, k, dq and dk dumped before the rotary embedding; dump those after it, or say "
             "--unrotated"};
}

}  // namespace

std::vector<Fit> fitting_mistakes(const Readings& head, const Arithmetic& how) {
  const ConservationSums plain = sums_of(head.plain);
  const auto broken = judge_conservation(plain, how);
  std::vector<Fit> fits;
  if (auto fit = before_rope(broken, plain, how)) fits.push_back(std::move(*fit));
  Attempts attempts;
  other_readings(head, attempts);
  unreduced_heads(head.plain, attempts);
  empty_queries(head.plain, attempts);
  exchanged_names(head.plain, attempts);
  other_orders(head.plain, broken, attempts);
  for (Attempt& attempt : attempts) {
    const auto undone = judge_conservation(sums_of(attempt.files), how);
    if (attempt.comparable ? mended(broken, undone) : explained(broken, undone))
      fits.push_back(std::move(attempt.fit));
  }
  return fits;
}

}  // namespace ringcheck::parity
