// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cp/attention/context_parallel.h"
#include "cp/device/device_graph.h"

namespace ringcheck {

// Both passes of an attention over tensors that stay where they are, each kept as a graph of the device:
// of a short sequence a host takes longer to queue the kernels and messages one by one than the
// device to do them. What is attended is what the tensors hold when a pass is replayed.
class Graphed {
 public:
  // Why ranks of this communicator cannot keep passes with this embedding so, or nothing.
  static std::optional<std::string> refuses(const Communicator& comm, const Rope& rope);

  // The arguments of ContextParallel::forward() and backward(), which it calls twice: to make what a
  // first call makes, and to keep what is queued. The ledger gets no line. Collective. Throws
  // std::invalid_argument as they do, and where refuses() says why.
  Graphed(ContextParallel& attention, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
          const at::Tensor& d_o);

  // Queue a pass, a backward pass behind the forward pass that it belongs to. Collective.
  void forward() { forward_->replay(); }
  void backward() { backward_->replay(); }

  // What the last replays left, once they are done.
  const ContextParallel::Context& context() const { return *context_; }
  const Gradients& gradients() const { return gradients_; }

 private:
  std::unique_ptr<DeviceGraph> forward_, backward_;  // gone after what lies in their memory
  std::optional<ContextParallel::Context> context_;
  Gradients gradients_;
};

}  // namespace ringcheck
