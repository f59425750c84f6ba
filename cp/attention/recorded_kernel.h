// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cp/attention/attention_kernel.h"
#include "cp/ledger/ledger.h"

namespace ringcheck {

// A kernel whose calls are entered in a ledger.
class RecordedKernel {
 public:
  RecordedKernel(std::shared_ptr<const AttentionKernel> kernel, Ledger& ledger)
      : kernel_(std::move(kernel)), ledger_(ledger) {}

  Partial forward(const QBlock& q, const KvBlock& kv, const Mask& mask, double scale);
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Mask& mask,
                     double scale);

 private:
  void record(const QBlock& q, const KvBlock& kv, const Mask& mask, int64_t flops_per_pair,
              const Instant& begin);

  std::shared_ptr<const AttentionKernel> kernel_;
  Ledger& ledger_;
};

}  // namespace ringcheck
