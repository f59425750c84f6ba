// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/strip_kernel.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "cp/ledger/sign_of_life.h"
#include "kernels/rows.h"
#include "kernels/upright.h"

namespace ringcheck {
namespace {

bool is_mirrored(const Strip& strip) { return strip.kind == Strip::Kind::kMirrored; }

// Queries and keys of a mirrored strip backwards are those of a causal one, which libraries know.
Strip in_order(Strip strip) {
  if (is_mirrored(strip)) strip.kind = Strip::Kind::kCausal;
  return strip;
}
at::Tensor in_order(const Strip& strip, const at::Tensor& x) { return is_mirrored(strip) ? x.flip(2) : x; }

at::Tensor rows_of(const at::Tensor& x, const Strip& strip) {
  return x.narrow(2, strip.row, strip.rows);
}
at::Tensor columns_of(const at::Tensor& x, const Strip& strip) {
  return x.narrow(2, strip.column, strip.columns);
}

// A partial result of all rows in the dtypes of some of them: no row is of two strips, so that nothing
// is added up, and a row of no strip is that of no key.
Partial partial_like(const Partial& part, const std::vector<Strip>& strips, const std::vector<int64_t>& sizes) {
  const Partial result{at::empty(sizes, part.out.options()),
                       at::empty({sizes[0], sizes[1], sizes[2]}, part.lse.options())};
  const auto sees_nothing = [&](int64_t begin, int64_t end) {
    if (begin == end) return;
    result.out.narrow(2, begin, end - begin).zero_();
    result.lse.narrow(2, begin, end - begin).fill_(-std::numeric_limits<double>::infinity());
  };
  int64_t row = 0;
  for (const Strip& strip : strips) {
    sees_nothing(row, strip.row);
    row = strip.row + strip.rows;
  }
  sees_nothing(row, sizes[2]);
  return result;
}

// Gradients of these slots among so many, in their dtype: those of the others are zero.
at::Tensor placed(const at::Tensor& some, int64_t begin, int64_t slots) {
  if (some.size(2) == slots) return some.contiguous();
  auto sizes = some.sizes().vec();
  sizes[2] = slots;
  const at::Tensor all = at::empty(sizes, some.options());
  const int64_t end = begin + some.size(2);
  all.narrow(2, 0, begin).zero_();
  all.narrow(2, begin, some.size(2)).copy_(some);
  all.narrow(2, end, slots - end).zero_();
  return all;
}

}  // namespace

Partial StripKernel::forward(const QBlock& q, const KvBlock& kv, const Scores& scores,
                             const Visibility& visibility) const {
  auto sizes = q.q.sizes().vec();
  sizes.back() = kv.shape.dim_v;
  const std::vector<Strip>& strips = visibility.strips();
  if (strips.empty()) return Partial::identity(sizes, q.q.options());
  const at::Tensor queries = upright(q.q, scores.scale);
  const auto attended = [&](const Strip& strip) {
    sign_of_life();
    const auto ordered = [&](const at::Tensor& x) { return in_order(strip, x); };
    const Partial part = attend({in_order(strip), strength(scores.scale), ordered(rows_of(queries, strip)),
                                 ordered(columns_of(kv.k(), strip)), ordered(columns_of(kv.v(), strip))});
    return Partial{ordered(part.out), ordered(part.lse)};
  };
  if (strips.size() == 1 && strips[0].rows == q.q.size(2)) {
    const Partial part = attended(strips[0]);
    return {part.out.contiguous(), part.lse.contiguous()};
  }
  Partial result;
  for (const Strip& strip : strips) {
    const Partial part = attended(strip);
    if (!result.out.defined()) result = partial_like(part, strips, sizes);
    if (part.out.element_size() > result.out.element_size()) result.out = result.out.to(part.out.scalar_type());
    rows_of(result.out, strip).copy_(part.out);
    rows_of(result.lse, strip).copy_(part.lse);
  }
  return result;
}

Gradients StripKernel::backward(const QBlock& q, const KvBlock& kv, const Saved& saved,
                                const Scores& scores, const Visibility& visibility) const {
  const at::Tensor queries = upright(q.q, scores.scale);
  const std::vector<Strip>& strips = visibility.strips();
  const auto differentiated = [&](const Strip& strip) {
    sign_of_life();
    const auto ordered = [&](const at::Tensor& x) { return in_order(strip, x); };
    const auto rows = [&](const at::Tensor& x) { return ordered(rows_of(x, strip)); };
    const Gradients term = differentiate({in_order(strip), strength(scores.scale), rows(queries),
                                          ordered(columns_of(kv.k(), strip)), ordered(columns_of(kv.v(), strip))},
                                         saved.of(rows));
    return Gradients{ordered(upright(term.dq, scores.scale)), ordered(term.dk), ordered(term.dv)};
  };
  if (strips.size() == 1) {
    const Strip& strip = strips[0];
    const Gradients term = differentiated(strip);
    const auto of_keys = [&](const at::Tensor& x) { return placed(x, strip.column, kv.shape.slots); };
    return {placed(term.dq, strip.row, q.q.size(2)), of_keys(term.dk), of_keys(term.dv)};
  }
  const auto wide = q.q.options().dtype(accumulation_type(q.q.scalar_type()));
  const Gradients sum{query_gradient_for(strips, q.q), at::zeros(kv.k().sizes(), wide),
                      at::zeros(kv.v().sizes(), wide)};
  for (const Strip& strip : strips) {
    const Gradients term = differentiated(strip);
    rows_of(sum.dq, strip).copy_(term.dq);
    columns_of(sum.dk, strip).add_(term.dk);
    columns_of(sum.dv, strip).add_(term.dv);
  }
  return sum;
}

Gradients StripKernel::by_members(
    const Call& call, const Saved& saved,
    const std::function<Gradients(const Call&, const Saved&, const at::Tensor& dq)>& alike) {
  const int64_t kv_heads = call.k.size(1), group = call.q.size(1) / kv_heads;
  if (group == 1) return alike(call, saved, {});
  const at::ScalarType wide = accumulation_type(call.q.scalar_type());
  const auto empty = [&](const at::Tensor& x) {
    return at::empty(x.sizes(), call.q.options().dtype(wide));
  };
  const Gradients sum{at::empty(call.q.sizes(), call.q.options()), empty(call.k), empty(call.v)};
  for (int64_t b = 0; b < call.q.size(0); ++b) {
    const auto members = [&](const at::Tensor& x) {  // [group, kv_heads, ...]
      return x[b].unflatten(0, {kv_heads, group}).transpose(0, 1);
    };
    const auto shared = [&](const at::Tensor& x) {
      return x[b].unsqueeze(0).expand({group, -1, -1, -1});
    };
    const Gradients each =
        alike({call.strip, call.scale, members(call.q), shared(call.k), shared(call.v)},
              saved.of(members), members(sum.dq));
    sum.dk[b].copy_(each.dk.sum(0, false, wide));
    sum.dv[b].copy_(each.dv.sum(0, false, wide));
  }
  return sum;
}

CallBytes StripKernel::call_bytes(const BlockShape& shape) const {
  const int64_t wide = c10::elementSize(accumulation_type(shape.dtype));
  const int64_t slots = count(shape.visibility.keys()), rows = count(shape.visibility.queries());
  const int64_t dims = shape.dim + shape.dim_v;
  const int64_t gradients = shape.batch * (shape.q_heads * (rows + slots) * dims) * wide;
  // Results before they are added, and what the library takes for its own; what is put in order.
  const bool copied = std::ranges::any_of(shape.visibility.strips(), is_mirrored);
  return result_bytes(shape, (copied ? 8 : 6) * gradients);
}

}  // namespace ringcheck
