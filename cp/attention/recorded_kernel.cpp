// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/recorded_kernel.h"

#include "cp/device/range.h"

namespace ringcheck {

RecordedKernel::RecordedKernel(const Plan& plan, Ledger& ledger)
    : kernel_(plan.kernel), scores_(plan.scores), visibilities_(plan.visibilities),
      ledger_(ledger) {
  if (!visibilities_) visibilities_ = std::make_shared<Visibilities>(scores_.mask);
}

Partial RecordedKernel::forward(const QBlock& q, const KvBlock& kv) {
  const Operation operation{"attend"};
  const Range range(operation);
  ledger_.enter(operation);
  const Visibility& visibility = visibilities_->of(q.positions, kv.positions);
  const Instant begin = ledger_.now();
  Partial part = kernel_->forward(q, kv, scores_, visibility);
  record(q, kv, visibility, 2 * (kv.shape.dim + kv.shape.dim_v), begin);
  return part;
}

Gradients RecordedKernel::backward(const QBlock& q, const KvBlock& kv, const Saved& saved) {
  const Operation operation{"attend backward"};
  const Range range(operation);
  ledger_.enter(operation);
  const Visibility& visibility = visibilities_->of(q.positions, kv.positions);
  const Instant begin = ledger_.now();
  Gradients term = kernel_->backward(q, kv, saved, scores_, visibility);
  record(q, kv, visibility, 6 * kv.shape.dim + 4 * kv.shape.dim_v, begin);
  return term;
}

void RecordedKernel::record(const QBlock& q, const KvBlock& kv, const Visibility& visibility,
                            int64_t flops_per_pair, const Instant& begin) {
  if (!ledger_.phase()) return;
  const Instant end = ledger_.now();
  const int64_t pairs = visibility.pairs() * q.q.size(0) * q.q.size(1);
  ledger_.attended({*ledger_.phase(), q.positions, kv.positions, kv.heads, pairs,
                    pairs * flops_per_pair, begin, end});
}

}  // namespace ringcheck
