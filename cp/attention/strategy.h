// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "cp/attention/attention_kernel.h"
#include "cp/worlds/communicator.h"
#include "cp/attention/rotation.h"

namespace ringcheck {

// What every rank agrees on before a pass: everything that varies is a value.
struct Plan {
  Layout layout;
  Mask mask;
  double scale = 1;
  std::shared_ptr<const AttentionKernel> kernel;
  RotationEntry rotation;  // of strategies that have one
  RotationOptions rotation_options;
  Merge merge = ringcheck::merge;
};

// One way to spread attention over the ranks of a communicator: a forward pass and, afterwards,
// its backward pass, any number of times. May keep state from one to the other.
class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual Partial forward(const QBlock& q, const KvBlock& own) = 0;
  // Gradients of this rank's q, k and v in accumulation type, the terms of all ranks included.
  virtual Gradients backward(const QBlock& q, const KvBlock& own, const Saved& saved) = 0;
};

using StrategyEntry = std::function<std::unique_ptr<Strategy>(Communicator&, const Plan&)>;
using Strategies = Registry<StrategyEntry>;

}  // namespace ringcheck
