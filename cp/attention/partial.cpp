// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/partial.h"

#include <ATen/ATen.h>

#include <limits>

#include "cp/attention/fused.h"

namespace ringcheck {
namespace {

// Contiguous, of one accumulation type, device and shape.
bool alike(const Partial& a, const Partial& b) {
  const at::ScalarType type = accumulation_type(a.out.scalar_type());
  for (const at::Tensor& x : {a.out, a.lse, b.out, b.lse})
    if (x.scalar_type() != type || !x.is_contiguous() || x.device() != a.out.device()) return false;
  return a.out.sizes() == b.out.sizes() && a.lse.sizes() == b.lse.sizes();
}

Partial widened(const Partial& part) {
  return {part.out.to(accumulation_type(part.out.scalar_type())).contiguous(), part.lse.contiguous()};
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

Partial merge(const Partial& a, const Partial& b) {
  const Fused* fused = fused_on(a.out.device());
  if (fused == nullptr) return merge_by_tensors(a, b);
  const Partial wide_a = widened(a), wide_b = widened(b);
  return alike(wide_a, wide_b) ? fused->merge(wide_a, wide_b) : merge_by_tensors(a, b);
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
