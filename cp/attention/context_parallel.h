// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cp/attention/rope.h"
#include "cp/attention/strategy.h"

namespace ringcheck {

// Attention over a sequence whose tokens are spread over the ranks of a communicator.
class ContextParallel {
 public:
  // The parts it is put together from.
  struct Options {
    StrategyEntry strategy;
    Plan plan;
    Rope rope;
    Rotate rotate = ringcheck::rotate;
    Rotate rotate_back = ringcheck::rotate_back;
  };
  // What a backward pass needs of the forward pass before it.
  struct Context {
    std::unique_ptr<Strategy> strategy;
    QBlock q;      // rotated
    KvBlock kv;    // rotated
    at::Tensor o;    // [batch, q_heads, slots, dim_v], in the dtype of q
    at::Tensor lse;  // [batch, q_heads, slots], in accumulation type
  };

  // Throws std::invalid_argument on arguments that the strategy does not take, on a layout of
  // another world, and on lengths that the mask does not allow.
  ContextParallel(Communicator& comm, Options options);

  // q [batch, q_heads, slots, dim], k and v [batch, kv_heads, slots, dim or dim_v]: the slots of
  // this rank, one dtype. Pad slots may hold anything. Throws std::invalid_argument on shapes
  // that disagree, on a shard of another length than the layout says, on a batch of another size than
  // the lengths are of, and where the kernel refuses a block. Collective. On a GPU it returns when all is
  // queued there, as any function of LibTorch: what is wrong there is known when the pass after it ends.
  Context forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

  // Gradients of q, k and v of this rank, in their dtype, from that of o, in its shape and dtype
  // (std::invalid_argument otherwise). Collective; a context is left as it was, so that a second
  // pass computes the same.
  Gradients backward(Context& context, const at::Tensor& d_o);
  // The same, but it returns on a GPU when all is queued there, as forward() does.
  Gradients queue_backward(Context& context, const at::Tensor& d_o);

  Communicator& communicator() const { return comm_; }
  const Options& options() const { return options_; }

 private:
  // The slots of this rank on one side: where they are, and which hold no token.
  struct Side {
    Positions positions;
    // Indices, on the device that was last asked for, of the entries of each length of a batch with lengths.
    std::vector<at::Tensor> pads;
  };
  void check(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);
  at::Tensor tokens(const at::Tensor& x, Side& side) const;
  at::Tensor rotated(const at::Tensor& x, Side& side) const;
  KvBlock own_block(const at::Tensor& k, const at::Tensor& v) const;
  Gradients backward(Context& context, const at::Tensor& d_o, void (Communicator::*ends)());

  Communicator& comm_;
  Options options_;
  Side queries_, keys_;
  std::vector<BlockShape> checked_;  // that the plan runs on
};

}  // namespace ringcheck
