// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/recorded_kernel.h"

#include <ATen/ATen.h>

#include "cp/attention/fused.h"
#include "cp/device/range.h"
#include "cp/ledger/computed.h"
#include "cp/ledger/sign_of_life.h"

namespace ringcheck {
namespace {

// Puts what is of some entries in its place in the whole, which is made for the first of them: in the accumulation type, as
// what comes later may be wider.
void put(at::Tensor& whole, const SameLength& some, int64_t batch, const at::Tensor& part) {
  if (some.count == batch) {
    whole = part;
    return;
  }
  if (!whole.defined()) {
    auto sizes = part.sizes().vec();
    sizes[0] = batch;
    whole = at::empty(sizes, part.options().dtype(accumulation_type(part.scalar_type())));
  }
  some.of(whole).copy_(part);
}

QBlock entries_of(const QBlock& q, const SameLength& some) { return {some.of(q.q), q.positions}; }

Saved entries_of(const Saved& saved, const SameLength& some) {
  return saved.of([&](const at::Tensor& x) { return some.of(x); });
}

}  // namespace

RecordedKernel::RecordedKernel(const Plan& plan, Ledger& ledger)
    : kernel_(plan.kernel), scores_(plan.scores), lengths_(plan.lengths),
      visibilities_(plan.visibilities), ledger_(ledger) {
  if (!visibilities_) visibilities_ = std::make_shared<std::map<int64_t, Visibilities>>();
}

const Visibility& RecordedKernel::shown(const Mask& mask, const QBlock& q, const KvBlock& kv) {
  return visibilities_->try_emplace(mask.length, mask).first->second.of(q.positions, kv.positions);
}

Partial RecordedKernel::forward(const QBlock& q, const KvBlock& kv) {
  const Operation operation{"attend"};
  const Range range(operation);
  ledger_.enter(operation);
  const int64_t batch = q.q.size(0);
  Partial whole;
  int64_t pairs = 0;
  const Instant begin = before();
  const Heard heard(ledger_);
  for (const SameLength& some : by_length(scores_.mask, lengths_, batch)) {
    const Visibility& visibility = shown(some.mask, q, kv);
    const Partial part =
        kernel_->forward(entries_of(q, some), entries_of(kv, some.first, some.count),
                         {some.mask, scores_.scale}, visibility);
    put(whole.out, some, batch, part.out);
    put(whole.lse, some, batch, part.lse);
    pairs += visibility.pairs() * some.count;
  }
  record(q, kv, pairs, 2 * (kv.shape.dim + kv.shape.dim_v), begin);
  return whole;
}

Saved RecordedKernel::with_d(Saved saved) const {
  if (kernel_->takes_d() && !saved.d.defined()) saved.d = row_dots(saved.d_o, saved.o);
  return saved;
}

Gradients RecordedKernel::backward(const QBlock& q, const KvBlock& kv, const Saved& saved) {
  const Operation operation{"attend backward"};
  const Range range(operation);
  ledger_.enter(operation);
  const int64_t batch = q.q.size(0);
  Gradients whole;
  int64_t pairs = 0;
  const Instant begin = before();
  const Heard heard(ledger_);
  for (const Saved all = with_d(saved); const SameLength& some : by_length(scores_.mask, lengths_, batch)) {
    const Visibility& visibility = shown(some.mask, q, kv);
    const Gradients term =
        kernel_->backward(entries_of(q, some), entries_of(kv, some.first, some.count),
                          entries_of(all, some), {some.mask, scores_.scale}, visibility);
    put(whole.dq, some, batch, term.dq);
    put(whole.dk, some, batch, term.dk);
    put(whole.dv, some, batch, term.dv);
    pairs += visibility.pairs() * some.count;
  }
  record(q, kv, pairs, 6 * kv.shape.dim + 4 * kv.shape.dim_v, begin);
  return whole;
}

Instant RecordedKernel::before() {
  ledger_.take_stock();
  take_computed();
  return ledger_.now();
}

void RecordedKernel::record(const QBlock& q, const KvBlock& kv, int64_t pairs,
                            int64_t flops_per_pair, const Instant& begin) {
  const int64_t computed = take_computed();
  if (!ledger_.phase()) return;
  const Instant end = ledger_.now();
  pairs *= q.q.size(1);
  ledger_.attended({*ledger_.phase(), q.positions, kv.positions, kv.heads, pairs,
                    pairs * flops_per_pair, begin, end, computed});
}

}  // namespace ringcheck
