// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/recorded_kernel.h"

#include "cp/device/range.h"

namespace ringcheck {

Partial RecordedKernel::forward(const QBlock& q, const KvBlock& kv, const Mask& mask,
                                double scale) {
  const Operation operation{"attend"};
  const Range range(operation);
  ledger_.enter(operation);
  const Instant begin = ledger_.now();
  Partial part = kernel_->forward(q, kv, mask, scale);
  record(q, kv, mask, 2 * (kv.shape.dim + kv.shape.dim_v), begin);
  return part;
}

Gradients RecordedKernel::backward(const QBlock& q, const KvBlock& kv, const Saved& saved,
                                   const Mask& mask, double scale) {
  const Operation operation{"attend backward"};
  const Range range(operation);
  ledger_.enter(operation);
  const Instant begin = ledger_.now();
  Gradients term = kernel_->backward(q, kv, saved, mask, scale);
  record(q, kv, mask, 6 * kv.shape.dim + 4 * kv.shape.dim_v, begin);
  return term;
}

void RecordedKernel::record(const QBlock& q, const KvBlock& kv, const Mask& mask,
                            int64_t flops_per_pair, const Instant& begin) {
  if (!ledger_.phase()) return;
  const Instant end = ledger_.now();
  const int64_t pairs =
      visible_pairs(mask, q.positions, kv.positions) * q.q.size(0) * q.q.size(1);
  ledger_.attended({*ledger_.phase(), q.positions, kv.positions, kv.heads, pairs,
                    pairs * flops_per_pair, begin, end});
}

}  // namespace ringcheck
