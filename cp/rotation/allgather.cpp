// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/rotation.h"

namespace ringcheck {
namespace {

// One all-gather of K and V; the steps read from the gathered buffers in ring order.
class AllGather final : public Rotation {
 public:
  AllGather(Communicator& comm, Layout layout, RotationOptions options)
      : comm_(comm), layout_(std::move(layout)), options_(options) {}

  void start(const KvBlock& own) override {
    step_ = 0;
    own_ = own;
    if (!gathered_.empty()) return;
    std::vector<at::Tensor> gathered = comm_.buffers(own.shape.elements(), own.shape.dtype, MemoryTag::kKv);
    comm_.all_gather(pack(own.k(), own.v(), {}).packed, gathered, {"all-gather kv", 0}).wait();
    gathered_ = std::move(gathered);  // which a wait that failed would leave without values
  }

  std::optional<KvBlock> next() override {
    if (step_ == comm_.size()) {
      if (!options_.keep) gathered_.clear();
      own_ = {};
      return std::nullopt;
    }
    const int owner = comm_.neighbour(-step_++);
    return KvBlock{{gathered_[owner], own_.shape}, layout_.keys[owner], own_.heads};
  }

 private:
  Communicator& comm_;
  Layout layout_;
  RotationOptions options_;
  KvBlock own_;
  std::vector<at::Tensor> gathered_;
  int step_ = 0;
};

// Each term goes straight to its owner, who adds them in the order of the ring: at step s this
// rank computes for the owner s places before it, and the rank s places after it for this one.
class StraightHome final : public GradientCarrier {
 public:
  StraightHome(Communicator& comm, const KvShape& shape) : comm_(comm), shape_(shape) {
    sum_.shape = shape;
  }

  void add(const at::Tensor& dk, const at::Tensor& dv) override {
    if (step_ == 0) {
      sum_.packed = traveller();
      fill(sum_.packed, dk, dv);
    } else {
      take();
      if (!outgoing_.defined()) outgoing_ = traveller();
      if (!incoming_.defined()) incoming_ = traveller();
      fill(outgoing_, dk, dv);
      const int owner = comm_.neighbour(-step_);
      const int helper = comm_.neighbour(step_);
      arrival_ = comm_.exchange(outgoing_, owner, incoming_, helper, {"send gradients", step_});
    }
    ++step_;
  }

  PackedKv home() override {
    take();
    outgoing_.reset();
    incoming_.reset();
    return sum_;
  }

 private:
  void fill(const at::Tensor& packed, const at::Tensor& dk, const at::Tensor& dv) const {
    const PackedKv block{packed, shape_};
    block.k().copy_(dk);
    block.v().copy_(dv);
  }
  at::Tensor traveller() {
    return comm_.buffer(shape_.elements(), shape_.dtype, MemoryTag::kTraveller);
  }
  // What the step before brought.
  void take() {
    arrival_.wait();
    if (step_ > 1) sum_.packed += incoming_;
  }

  Communicator& comm_;
  KvShape shape_;
  PackedKv sum_;
  at::Tensor outgoing_, incoming_;
  Pending arrival_;
  int step_ = 0;
};

const Rotations::Add registered{
    "allgather",
    {[](Communicator& comm, const Layout& layout, RotationOptions options) {
       return std::make_unique<AllGather>(comm, layout, options);
     },
     [](Communicator& comm, const KvShape& gradient) {
       return std::make_unique<StraightHome>(comm, gradient);
     },
     true}};

}  // namespace
}  // namespace ringcheck
