// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/partial.h"

#include <ATen/ATen.h>

#include <limits>

#include "cp/attention/fused.h"

namespace ringcheck {
namespace {

// Whether the rows of each head lie one behind the other, and all heads as far from each other.
bool by_rows(const at::Tensor& x) {
  const int64_t channels = x.dim() == 4 ? x.size(3) : 1;
  return (channels == 1 || x.stride(-1) == 1) && (x.size(2) == 1 || x.stride(2) == channels) &&
         (x.size(0) == 1 || x.size(1) == 1 || x.stride(0) == x.size(1) * x.stride(1));
}

Partial laid_out(const Partial& part) {
  const auto rows = [](const at::Tensor& x) { return by_rows(x) ? x : x.contiguous(); };
  return {rows(part.out), rows(part.lse)};
}

// What the fused form takes.
bool fits(const Partial& sum, const Partial& part) {
  const at::ScalarType wide = sum.lse.scalar_type();
  return part.lse.scalar_type() == wide && accumulation_type(part.out.scalar_type()) == wide && part.out.sizes() == sum.out.sizes() &&
         part.lse.sizes() == sum.lse.sizes() && part.out.device() == sum.out.device() &&
         part.lse.device() == sum.out.device();
}

}  // namespace

bool is_floating(at::ScalarType dtype) {
  return dtype == at::kDouble || dtype == at::kFloat || dtype == at::kBFloat16 || dtype == at::kHalf;
}

at::ScalarType accumulation_type(at::ScalarType dtype) {
  return dtype == at::kDouble ? at::kDouble : at::kFloat;
}

Partial Partial::identity(at::IntArrayRef out_sizes, const at::TensorOptions& options) {
  const at::ScalarType type = accumulation_type(c10::typeMetaToScalarType(options.dtype()));
  const auto wide = options.dtype(type);
  return {at::zeros(out_sizes, wide),
          at::full(out_sizes.slice(0, 3), -std::numeric_limits<double>::infinity(), wide)};
}

Partial merge(const Partial& a, const Partial& b) { return merge_to(accumulation_type(a.out.scalar_type()), a, b); }

Partial merge_to(at::ScalarType out, const Partial& a, const Partial& b) {
  if (fused_on(a.out.device()) == nullptr) {
    Partial sum = merge_by_tensors(a, b);
    sum.out = sum.out.to(out);
    return sum;
  }
  const auto in = [&](at::ScalarType type) { return a.out.options().dtype(type); };
  const Partial sum{at::empty(a.out.sizes(), in(out)), at::empty(a.lse.sizes(), in(accumulation_type(out)))};
  merge_into(sum, a, b);
  return sum;
}

void merge_into(const Partial& sum, const Partial& a, const Partial& b) {
  const Fused* fused = fused_on(sum.out.device());
  if (fused != nullptr && by_rows(sum.out) && by_rows(sum.lse) && fits(sum, sum) && fits(sum, a) && fits(sum, b))
    return fused->merge(laid_out(a), laid_out(b), sum);
  const Partial merged = merge_by_tensors(a, b);
  sum.out.copy_(merged.out);
  sum.lse.copy_(merged.lse);
}

Partial merge_by_tensors(const Partial& a, const Partial& b) {
  const at::Tensor a_empty = a.lse.isneginf(), b_empty = b.lse.isneginf();
  const at::Tensor shift = at::maximum(a.lse, b.lse).masked_fill_(a_empty & b_empty, 0);
  const at::Tensor wa = (a.lse - shift).exp_(), wb = (b.lse - shift).exp_();
  const at::Tensor sum = wa + wb;
  const at::Tensor lse = shift + sum.log();
  const at::Tensor out = (a.out * wa.unsqueeze(-1) + b.out * wb.unsqueeze(-1)) / sum.unsqueeze(-1);
  const auto select = [&](const at::Tensor& merged, const at::Tensor& from_a,
                          const at::Tensor& from_b, const at::Tensor& no_a, const at::Tensor& no_b) {
    return at::where(no_b, from_a, at::where(no_a, from_b, merged));
  };
  return {select(out, a.out, b.out, a_empty.unsqueeze(-1), b_empty.unsqueeze(-1)),
          select(lse, a.lse, b.lse, a_empty, b_empty)};
}

}  // namespace ringcheck
