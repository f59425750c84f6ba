// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/decorators/rotation.h"

namespace ringcheck::parity {
namespace {

class ChangedRotation final : public Rotation {
 public:
  ChangedRotation(std::unique_ptr<Rotation> rotation, Next next)
      : rotation_(std::move(rotation)), next_(std::move(next)) {}

  void start(const KvBlock& own) override {
    step_ = 0;
    rotation_->start(own);
  }
  std::optional<KvBlock> next() override { return next_(*rotation_, step_++); }

 private:
  std::unique_ptr<Rotation> rotation_;
  Next next_;
  int step_ = 0;
};

class ChangedCarrier final : public GradientCarrier {
 public:
  ChangedCarrier(std::unique_ptr<GradientCarrier> carrier, AroundCarrier around)
      : carrier_(std::move(carrier)), around_(std::move(around)) {}

  void add(const at::Tensor& dk, const at::Tensor& dv) override {
    if (around_.add) around_.add(*carrier_, dk, dv, step_++);
    else carrier_->add(dk, dv);
  }
  PackedKv home() override { return around_.home ? around_.home(*carrier_) : carrier_->home(); }

 private:
  std::unique_ptr<GradientCarrier> carrier_;
  AroundCarrier around_;
  int step_ = 0;
};

}  // namespace

RotationOf with_next(RotationOf rotation_of, MakeNext make) {
  return [=](const std::string& name) {
    RotationEntry entry = rotation_of(name);
    entry.rotation = [=, inner = entry.rotation](Communicator& comm, const Layout& layout,
                                                 RotationOptions options) {
      return std::make_unique<ChangedRotation>(inner(comm, layout, options), make(comm, layout));
    };
    return entry;
  };
}

RotationOf with_carrier(RotationOf rotation_of, MakeCarrier make) {
  return [=](const std::string& name) {
    RotationEntry entry = rotation_of(name);
    entry.carrier = [=, inner = entry.carrier](Communicator& comm, const KvShape& gradient) {
      return std::make_unique<ChangedCarrier>(inner(comm, gradient), make(comm));
    };
    return entry;
  };
}

}  // namespace ringcheck::parity
