// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/recorded_kernel.h"

#include "cp/device/range.h"
#include "cp/ledger/computed.h"
#include "cp/ledger/sign_of_life.h"

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
  const Instant begin = before();
  const Heard heard(ledger_);
  Partial part = kernel_->forward(q, kv, scores_, visibility);
  record(q, kv, visibility, 2 * (kv.shape.dim + kv.shape.dim_v), begin);
  return part;
}

Gradients RecordedKernel::backward(const QBlock& q, const KvBlock& kv, const Saved& saved) {
  const Operation operation{"attend backward"};
  const Range range(operation);
  ledger_.enter(operation);
  const Visibility& visibility = visibilities_->of(q.positions, kv.positions);
  const Instant begin = before();
  const Heard heard(ledger_);
  Gradients term = kernel_->backward(q, kv, saved, scores_, visibility);
  record(q, kv, visibility, 6 * kv.shape.dim + 4 * kv.shape.dim_v, begin);
  return term;
}

Instant RecordedKernel::before() {
  ledger_.take_stock();
  take_computed();
  return ledger_.now();
}

void RecordedKernel::record(const QBlock& q, const KvBlock& kv, const Visibility& visibility,
                            int64_t flops_per_pair, const Instant& begin) {
  const int64_t computed = take_computed();
  if (!ledger_.phase()) return;
  const Instant end = ledger_.now();
  const int64_t pairs = visibility.pairs() * q.q.size(0) * q.q.size(1);
  ledger_.attended({*ledger_.phase(), q.positions, kv.positions, kv.heads, pairs,
                    pairs * flops_per_pair, begin, end, computed});
}

}  // namespace ringcheck
