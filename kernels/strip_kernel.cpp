// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/strip_kernel.h"

#include <ATen/ATen.h>

namespace ringcheck {
namespace {

at::Tensor rows_of(const at::Tensor& x, const Strip& strip) {
  return x.narrow(2, strip.row, strip.rows);
}
at::Tensor columns_of(const at::Tensor& x, const Strip& strip) {
  return x.narrow(2, strip.column, strip.columns);
}

}  // namespace

Partial StripKernel::forward(const QBlock& q, const KvBlock& kv, const Mask& mask,
                             double scale) const {
  auto sizes = q.q.sizes().vec();
  sizes.back() = kv.shape.dim_v;
  const Partial result = Partial::identity(sizes, q.q.options());
  for (const Strip& strip : strips(mask, q.positions, kv.positions)) {
    const Partial part = attend({strip, scale, rows_of(q.q, strip), columns_of(kv.k(), strip),
                                 columns_of(kv.v(), strip)});
    rows_of(result.out, strip).copy_(part.out);
    rows_of(result.lse, strip).copy_(part.lse);
  }
  return result;
}

Gradients StripKernel::backward(const QBlock& q, const KvBlock& kv, const Saved& saved,
                                const Mask& mask, double scale) const {
  const auto wide = q.q.options().dtype(accumulation_type(q.q.scalar_type()));
  const Gradients sum{at::zeros(q.q.sizes(), wide), at::zeros(kv.k().sizes(), wide),
                      at::zeros(kv.v().sizes(), wide)};
  for (const Strip& strip : strips(mask, q.positions, kv.positions)) {
    const Gradients term =
        differentiate({strip, scale, rows_of(q.q, strip), columns_of(kv.k(), strip),
                       columns_of(kv.v(), strip)},
                      {rows_of(saved.o, strip), rows_of(saved.lse, strip),
                       rows_of(saved.d, strip), rows_of(saved.d_o, strip)});
    rows_of(sum.dq, strip).copy_(term.dq);
    columns_of(sum.dk, strip).add_(term.dk);
    columns_of(sum.dv, strip).add_(term.dv);
  }
  return sum;
}

int64_t StripKernel::workspace_bytes(const BlockShape& shape) const {
  const int64_t wide = c10::elementSize(accumulation_type(shape.dtype));
  const int64_t slots = count(shape.keys), rows = count(shape.queries);
  const int64_t dims = shape.dim + shape.dim_v;
  const int64_t gradients = shape.batch * (shape.q_heads * (rows + slots) * dims) * wide;
  return 6 * gradients + (int64_t{64} << 20);  // results before they are added; what libraries hold
}

}  // namespace ringcheck
