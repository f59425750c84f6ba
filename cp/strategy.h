// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cp/attention_kernel.h"
#include "cp/communicator.h"
#include "cp/rotation.h"

namespace ringcheck {

// What every rank agrees on before a pass.
struct Plan {
  Layout layout;
  Mask mask;
  double scale = 1;
  std::shared_ptr<const AttentionKernel> kernel;
  std::string rotation;  // of strategies that have one
  RotationOptions rotation_options;
};

// One way to spread attention over the ranks of a communicator: a forward pass and, afterwards,
// its backward pass. May keep state from one to the other.
class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual Partial forward(const QBlock& q, const KvBlock& own) = 0;
  // Gradients of this rank's q, k and v in accumulation type, the terms of all ranks included.
  virtual Gradients backward(const QBlock& q, const KvBlock& own, const Saved& saved) = 0;
};

using Strategies =
    Registry<std::function<std::unique_ptr<Strategy>(Communicator&, const Plan&)>>;

}  // namespace ringcheck
