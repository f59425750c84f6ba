// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/conservation/conservation_sums.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <stdexcept>

namespace ringcheck::parity {
namespace {

using Field = at::Tensor ConservationSums::*;
using S = ConservationSums;
constexpr Field kOfV[] = {&S::d_o,          &S::d_o_squares, &S::dv,
                          &S::dv_squares,   &S::do_o,        &S::do_o_squares,
                          &S::dv_v,         &S::dv_v_squares, &S::v_squares};
constexpr Field kOfK[] = {&S::dk,          &S::dk_squares,       &S::k,
                          &S::k_squares,   &S::dq_q,             &S::dq_q_squares,
                          &S::dk_k,        &S::dk_k_squares,     &S::q_squares,
                          &S::q_d,         &S::q_d_squares,      &S::q_output_squares,
                          &S::q_d_o_squares};
constexpr Field kScalars[] = {&S::dq_q_norms, &S::dk_k_norms, &S::queries_of_entry, &S::keys_of_entry};
constexpr Field kLargest[] = {&S::q_largest, &S::k_largest, &S::v_largest};

constexpr int64_t kElements = 1 << 24;  // that are widened to float64 at a time

// [batch, kv_heads, group, slots, dim] -> [batch, kv_heads, dim]
at::Tensor over_slots(const at::Tensor& x) { return x.sum({2, 3}); }
at::Tensor norms(const at::Tensor& x) { return x.square().sum(-1, true); }
at::Tensor largest(const at::Tensor& norms) { return norms.amax({2, 3}).sqrt(); }

// [batch, kv_heads, 1]: the sum over slots of <x, y>^2, given x y by channel.
at::Tensor inner_squares(const at::Tensor& xy) { return over_slots(xy.sum(-1, true).square()); }

// [batch, slots]: which hold something in any head, those with a token.
at::Tensor tokens(const at::Tensor& x, const at::Tensor& y) {
  return x.ne(0).any(-1).logical_or(y.ne(0).any(-1)).flatten(1, 2).any(1);
}
int64_t in_any_entry(const at::Tensor& tokens) { return tokens.any(0).sum().item<int64_t>(); }

// [batch, kv_heads, 1] as `like`.
at::Tensor by_entry(const at::Tensor& tokens, const at::Tensor& like) {
  return tokens.sum(1).to(at::kDouble).view({-1, 1, 1}).expand_as(like);
}

void add_queries(S& s, const at::Tensor& q, const at::Tensor& d_o, const at::Tensor& o,
                 const at::Tensor& dq, const at::Tensor& dq_size, const at::Tensor& seeing) {
  const at::Tensor do_o = d_o * o, dq_q = dq * q, d = do_o.sum(-1, true);
  const at::Tensor q2 = q.square(), counted = at::where(seeing, d_o, 0.0);
  s.d_o = over_slots(counted);
  s.d_o_squares = over_slots(counted.square());
  s.do_o = over_slots(do_o);
  s.do_o_squares = over_slots(do_o.square());
  s.dq_q = over_slots(dq_q);
  s.dq_q_squares = over_slots((dq_size * q).square());
  s.dq_q_norms = inner_squares(dq_q);
  s.q_squares = over_slots(q2);
  s.q_d = over_slots(q * d);
  s.q_d_squares = over_slots(q2 * d.square());
  s.q_output_squares = over_slots(q2 * norms(do_o));
  s.q_d_o_squares = over_slots(q2 * norms(d_o));
  s.q_largest = largest(norms(q));
  const at::Tensor filled = tokens(q, d_o);
  s.queries = q.size(2) * in_any_entry(filled);
  s.queries_of_entry = static_cast<double>(q.size(2)) * by_entry(filled, s.dq_q_norms);
}

void add_keys(S& s, const at::Tensor& k, const at::Tensor& v, const at::Tensor& dk,
              const at::Tensor& dk_size, const at::Tensor& dv) {
  const at::Tensor dk_k = dk * k, dv_v = dv * v;
  s.dv = over_slots(dv);
  s.dv_squares = over_slots(dv.square());
  s.dv_v = over_slots(dv_v);
  s.dv_v_squares = over_slots(dv_v.square());
  s.v_squares = over_slots(v.square());
  s.dk = over_slots(dk);
  s.dk_squares = over_slots(dk_size.square());
  s.k = over_slots(k);
  s.k_squares = over_slots(k.square());
  s.dk_k = over_slots(dk_k);
  s.dk_k_squares = over_slots((dk_size * k).square());
  s.dk_k_norms = inner_squares(dk_k);
  s.k_largest = largest(norms(k));
  s.v_largest = largest(norms(v));
  const at::Tensor filled = tokens(k, v);
  s.keys = in_any_entry(filled);
  s.keys_of_entry = by_entry(filled, s.dk_k_norms);
}

void agree(bool holds, const char* what, const at::Tensor& a, const at::Tensor& b) {
  if (!holds)
    throw std::invalid_argument(c10::str("conservation laws: ", what, " have shapes ", a.sizes(),
                                         " and ", b.sizes(), ", which do not belong together"));
}

// The slots [begin, end) of x in float64, [batch, kv_heads, group, slots, dim].
at::Tensor widened(const at::Tensor& x, int64_t kv_heads, int64_t begin, int64_t end) {
  return x.slice(2, begin, end).to(at::kDouble).unflatten(1, {kv_heads, x.size(1) / kv_heads});
}

S zeros(const AttentionShard& x) {
  S s;
  const auto sized = [&](int64_t dim) {
    return at::zeros({x.k.size(0), x.k.size(1), dim}, x.k.options().dtype(at::kDouble));
  };
  for (const Field field : kOfV)
    s.*field = sized(x.v.size(3));
  for (const Field field : kOfK)
    s.*field = sized(x.k.size(3));
  for (const Field field : kScalars)
    s.*field = sized(1);
  for (const Field field : kLargest)
    s.*field = sized(1);
  return s;
}

int64_t slots_at_a_time(const at::Tensor& x) {
  return std::max<int64_t>(1, kElements / std::max<int64_t>(1, x.size(0) * x.size(1) * x.size(3)));
}

}  // namespace

void check_shapes(const AttentionShard& x) {
  for (const at::Tensor* t : {&x.q, &x.d_o, &x.o, &x.dq, &x.k, &x.v, &x.dk, &x.dv})
    if (!t->defined() || t->dim() != 4)
      throw std::invalid_argument("conservation laws: a tensor does not have four sizes");
  agree(x.q.sizes() == x.dq.sizes(), "q and dq", x.q, x.dq);
  agree(x.k.sizes() == x.dk.sizes(), "k and dk", x.k, x.dk);
  agree(x.v.sizes() == x.dv.sizes(), "v and dv", x.v, x.dv);
  agree(x.o.sizes() == x.d_o.sizes(), "o and do", x.o, x.d_o);
  agree(x.q.sizes().slice(0, 3) == x.o.sizes().slice(0, 3), "q and o", x.q, x.o);
  agree(x.k.sizes().slice(0, 3) == x.v.sizes().slice(0, 3), "k and v", x.k, x.v);
  agree(x.q.size(0) == x.k.size(0) && x.q.size(3) == x.k.size(3) && x.v.size(3) == x.o.size(3) &&
            x.k.size(1) > 0 && x.q.size(1) % x.k.size(1) == 0,
        "q and k", x.q, x.k);
}

ConservationSums conservation_sums(const AttentionShard& x) {
  check_shapes(x);
  const S none = zeros(x);
  S total = none;
  const int64_t kv_heads = x.k.size(1);
  for (int64_t begin = 0, step = slots_at_a_time(x.q); begin < x.q.size(2); begin += step) {
    const auto part = [&](const at::Tensor& t) { return widened(t, kv_heads, begin, begin + step); };
    const at::Tensor seeing =
        x.empty_rows.defined() ? part(x.empty_rows.unsqueeze(-1)).eq(0)
                               : at::ones({}, x.q.options().dtype(at::kBool));
    S some = none;
    add_queries(some, part(x.q), part(x.d_o), part(x.o), part(x.dq),
                part(x.dq_size.defined() ? x.dq_size : x.dq), seeing);
    total = total + some;
  }
  for (int64_t begin = 0, step = slots_at_a_time(x.k); begin < x.k.size(2); begin += step) {
    const auto part = [&](const at::Tensor& t) { return widened(t, kv_heads, begin, begin + step); };
    S some = none;
    add_keys(some, part(x.k), part(x.v), part(x.dk), part(x.dk_size.defined() ? x.dk_size : x.dk),
             part(x.dv));
    total = total + some;
  }
  return total;
}

ConservationSums operator+(const ConservationSums& a, const ConservationSums& b) {
  if (a.empty() || b.empty())
    return a.empty() ? b : a;
  S sum;
  const auto add = [&](const Field field) {
    agree((a.*field).sizes() == (b.*field).sizes(), "sums of two shards", a.*field, b.*field);
    sum.*field = a.*field + b.*field;
  };
  std::ranges::for_each(kOfV, add);
  std::ranges::for_each(kOfK, add);
  std::ranges::for_each(kScalars, add);
  for (const Field field : kLargest)
    sum.*field = at::maximum(a.*field, b.*field);
  sum.queries = a.queries + b.queries;
  sum.keys = a.keys + b.keys;
  return sum;
}

}  // namespace ringcheck::parity
