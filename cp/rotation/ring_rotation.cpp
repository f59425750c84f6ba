// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/rotation/ring_rotation.h"

#include <ATen/core/Tensor.h>

namespace ringcheck {
namespace {

// Every rank passes the block it holds to its right neighbour, P - 1 times (Liu et al., Ring
// Attention, section 3). Two blocks are held: the one that leaves, and the incoming one. The own one leaves as a copy.
class RingRotation final : public Rotation {
 public:
  RingRotation(Communicator& comm, Layout layout, Hop hop)
      : comm_(comm), layout_(std::move(layout)), hop_(hop) {}

  void start(const KvBlock& own) override {
    incoming_ = own;
    free_.reset();
    step_ = 0;
  }

  std::optional<KvBlock> next() override {
    arrival_.wait();
    if (step_ == comm_.size()) {
      incoming_ = {};
      free_.reset();
      return std::nullopt;
    }
    KvBlock current = std::move(incoming_);
    if (++step_ < comm_.size()) pass_on(current);
    return current;
  }

 private:
  void pass_on(const KvBlock& current) {
    const KvShape& shape = current.shape;
    const at::Tensor leaving = step_ > 1 ? current.packed : pack(current.k(), current.v(), {}).packed;
    incoming_ = {{free_.defined() ? free_ : comm_.buffer(shape.elements(), shape.dtype, MemoryTag::kKv), shape},
                 layout_.keys[comm_.neighbour(-step_)], current.heads};
    arrival_ = hop_(comm_, leaving, incoming_.packed, {"exchange kv", step_});
    free_ = leaving;
  }

  Communicator& comm_;
  Layout layout_;
  Hop hop_;
  KvBlock incoming_;  // lands here while the block before it is in use
  at::Tensor free_;   // the buffer that leaves, to be received into next
  Pending arrival_;
  int step_ = 0;
};

// The sum for each owner travels with the blocks, one hop behind them: this rank adds its term
// and passes the sum on. After the last term it makes one more hop, home.
class RingCarrier final : public GradientCarrier {
 public:
  RingCarrier(Communicator& comm, const KvShape& shape, Hop hop)
      : comm_(comm), shape_(shape), hop_(hop) {}

  void add(const at::Tensor& dk, const at::Tensor& dv) override {
    arrival_.wait();
    PackedKv sum{step_ == 0 ? traveller() : incoming_, shape_};
    if (step_ == 0) {
      sum.k().copy_(dk);
      sum.v().copy_(dv);
    } else {
      sum.k().add_(dk);
      sum.v().add_(dv);
    }
    ++step_;
    if (comm_.size() == 1) {
      incoming_ = sum.packed;
      return;
    }
    incoming_ = free_.defined() ? free_ : traveller();
    arrival_ = hop_(comm_, sum.packed, incoming_, {"exchange gradients", step_});
    free_ = sum.packed;
  }

  PackedKv home() override {
    arrival_.wait();
    free_.reset();
    return {incoming_, shape_};
  }

 private:
  at::Tensor traveller() {
    return comm_.buffer(shape_.elements(), shape_.dtype, MemoryTag::kTraveller);
  }

  Communicator& comm_;
  KvShape shape_;
  Hop hop_;
  at::Tensor incoming_, free_;
  Pending arrival_;
  int step_ = 0;
};

}  // namespace

RotationEntry ring_by(Hop hop) {
  return {[hop](Communicator& comm, const Layout& layout, RotationOptions) {
            return std::make_unique<RingRotation>(comm, layout, hop);
          },
          [hop](Communicator& comm, const KvShape& gradient) {
            return std::make_unique<RingCarrier>(comm, gradient, hop);
          }};
}

}  // namespace ringcheck
