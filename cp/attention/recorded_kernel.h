// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cp/attention/plan.h"
#include "cp/ledger/ledger.h"

namespace ringcheck {

// The kernel of a plan on its scores, its calls entered in a ledger.
class RecordedKernel {
 public:
  RecordedKernel(const Plan& plan, Ledger& ledger);

  Partial forward(const QBlock& q, const KvBlock& kv);
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved);

 private:
  Instant before();  // of a call of the kernel
  void record(const QBlock& q, const KvBlock& kv, const Visibility& visibility,
              int64_t flops_per_pair, const Instant& begin);

  std::shared_ptr<const AttentionKernel> kernel_;
  Scores scores_;
  std::shared_ptr<Visibilities> visibilities_;
  Ledger& ledger_;
};

}  // namespace ringcheck
