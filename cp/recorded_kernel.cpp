// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/recorded_kernel.h"

namespace ringcheck {

Partial RecordedKernel::forward(const QBlock& q, const KvBlock& kv, const Mask& mask,
                                double scale) {
  ledger_.enter({"attend"});
  const double begin = ledger_.now();
  Partial part = kernel_->forward(q, kv, mask, scale);
  record(q, kv, mask, 2 * (kv.shape.dim + kv.shape.dim_v), begin);
  return part;
}

Gradients RecordedKernel::backward(const QBlock& q, const KvBlock& kv, const Saved& saved,
                                   const Mask& mask, double scale) {
  ledger_.enter({"attend backward"});
  const double begin = ledger_.now();
  Gradients term = kernel_->backward(q, kv, saved, mask, scale);
  record(q, kv, mask, 6 * kv.shape.dim + 4 * kv.shape.dim_v, begin);
  return term;
}

void RecordedKernel::record(const QBlock& q, const KvBlock& kv, const Mask& mask,
                            int64_t flops_per_pair, double begin) {
  if (!ledger_.phase()) return;
  const double end = ledger_.now();
  const int64_t pairs =
      visible_pairs(mask, q.positions, kv.positions) * q.q.size(0) * q.q.size(1);
  ledger_.attended({*ledger_.phase(), q.positions, kv.positions, kv.heads, pairs,
                    pairs * flops_per_pair, begin, end});
}

}  // namespace ringcheck
