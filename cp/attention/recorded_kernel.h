// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cp/attention/plan.h"
#include "cp/ledger/ledger.h"

namespace ringcheck {

// The kernel of a plan on its scores, its calls entered in a ledger. Where the entries of a batch hold
// different numbers of tokens, it is called for those of one length after the other, and what they
// return is put together: one entry of the ledger, whose counts are sums over them.
class RecordedKernel {
 public:
  RecordedKernel(const Plan& plan, Ledger& ledger);

  Partial forward(const QBlock& q, const KvBlock& kv);
  // With D, if the kernel takes it: what many calls share is made once. A call makes it where it is not there.
  Saved with_d(Saved saved) const;
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved);

 private:
  Instant before();  // of a call of the kernel
  const Visibility& shown(const Mask& mask, const QBlock& q, const KvBlock& kv);
  void record(const QBlock& q, const KvBlock& kv, int64_t pairs, int64_t flops_per_pair,
              const Instant& begin);

  std::shared_ptr<const AttentionKernel> kernel_;
  Scores scores_;
  Lengths lengths_;
  std::shared_ptr<std::map<int64_t, Visibilities>> visibilities_;
  Ledger& ledger_;
};

}  // namespace ringcheck
