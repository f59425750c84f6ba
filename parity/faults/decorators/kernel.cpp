// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/decorators/kernel.h"

#include <ATen/ATen.h>

#include "cp/ledger/memory.h"

namespace ringcheck::parity {
namespace {

class Around final : public AttentionKernel {
 public:
  Around(std::shared_ptr<const AttentionKernel> kernel, AroundKernel around)
      : kernel_(std::move(kernel)), around_(std::move(around)) {}

  std::optional<std::string> refuses(const BlockShape& shape) const override {
    return kernel_->refuses(shape);
  }
  CallBytes call_bytes(const BlockShape& shape) const override {
    return kernel_->call_bytes(shape);
  }
  bool takes_d() const override { return kernel_->takes_d(); }
  std::optional<TileSize> tile_size() const override { return kernel_->tile_size(); }

  Partial forward(const QBlock& q, const KvBlock& kv, const Scores& scores,
                  const Visibility& visibility) const override {
    KernelCall call{q, kv, scores, std::nullopt, forward_++};
    if (around_.before) around_.before(call);
    Partial part = kernel_->forward(call.q, call.kv, call.scores, shown(call, visibility));
    if (around_.after_forward) around_.after_forward(call, part);
    return part;
  }

  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Scores& scores,
                     const Visibility& visibility) const override {
    KernelCall call{q, kv, scores, saved, backward_++};
    if (around_.before) around_.before(call);
    Gradients term = kernel_->backward(call.q, call.kv, *call.saved, call.scores,
                                       shown(call, visibility));
    if (around_.after_backward) around_.after_backward(call, term);
    return term;
  }

 private:
  // What a call shows that may have been given another mask or other positions.
  static Visibility shown(const KernelCall& call, const Visibility& before) {
    const bool same = call.scores.mask == before.mask() && call.q.positions == before.queries() &&
                      call.kv.positions == before.keys();
    return same ? before : visibility_of(call.q, call.kv, call.scores);
  }

  std::shared_ptr<const AttentionKernel> kernel_;
  AroundKernel around_;
  mutable int forward_ = 0, backward_ = 0;
};

}  // namespace

std::shared_ptr<const AttentionKernel> with_around(std::shared_ptr<const AttentionKernel> kernel,
                                                   AroundKernel around) {
  return std::make_shared<Around>(std::move(kernel), std::move(around));
}

KvBlock own_copy(const KvBlock& block) {
  const KvBlock copy{{buffer(block.shape, MemoryTag::kOther), block.shape}, block.positions, block.heads};
  copy.k().copy_(block.k());
  copy.v().copy_(block.v());
  return copy;
}

}  // namespace ringcheck::parity
