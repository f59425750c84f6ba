// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "cp/attention/attention_kernel.h"
#include "cp/layout/strips.h"

namespace ringcheck {

// A kernel that computes dense shapes: full, causal, band. A block is cut into strips of queries, each of
// which is one call, a mirrored one in reverse order; since every query is in one strip at most, nothing is
// merged here.
class StripKernel : public AttentionKernel {
 public:
  Partial forward(const QBlock& q, const KvBlock& kv, const Scores& scores,
                  const Visibility& visibility) const final;
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Scores& scores,
                     const Visibility& visibility) const final;
  CallBytes call_bytes(const BlockShape& shape) const override;
  bool takes_d() const override { return false; }  // libraries make it

 protected:
  // One strip: its queries against its keys, in the layout of the block, or, of a mirrored one, which comes as
  // causal, in reverse order. The scale is above 0: the rest of it is in q (`kernels/upright.h`), and goes out of dq.
  struct Call {
    Strip strip;
    double scale;
    at::Tensor q, k, v;
  };
  // Out in any dtype, LSE as the natural logarithm.
  virtual Partial attend(const Call& call) const = 0;
  // The saved tensors are those of the strip's queries. Gradients in any dtype.
  virtual Gradients differentiate(const Call& call, const Saved& saved) const = 0;

  // For libraries that add up the gradients of a query group in 16 bits: `alike` is called with as
  // many key-value heads as query heads, the members of a group being the batch, which share K and
  // V by a batch stride of 0; their gradients of K and V are added up in the accumulation type. Those of
  // queries it writes into `dq`, of the dtype of q, where that is defined.
  static Gradients by_members(
      const Call& call, const Saved& saved,
      const std::function<Gradients(const Call&, const Saved&, const at::Tensor& dq)>& alike);
};

}  // namespace ringcheck
