// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  std::string arguments;  // of the strategy, in their canonical text
  // The rotation of a name, for strategies that take one.
  std::function<RotationEntry(const std::string& name)> rotation_of = [](const std::string& name) {
    return Rotations::at(name);
  };
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

// What belongs to a strategy: how it is made, its arguments, what it refuses, what it rounds.
struct StrategyEntry {
  std::string says;  // in a line
  // The canonical text of the arguments behind its name, ":alltoall" of "ring:alltoall"; the default
  // of none. Throws std::invalid_argument that names value, limit and fix.
  std::function<std::string(std::string_view arguments)> canonical;
  // All arguments that lists and profiles may take.
  std::function<std::vector<std::string>()> values;
  std::function<std::unique_ptr<Strategy>(Communicator&, const Plan&)> make;
  // Why it cannot run, beside what the kernel refuses, or nothing.
  std::function<std::optional<std::string>(const Plan&, const BlockShape&)> refuses;
  // How many partial results a row of O is merged from.
  std::function<int(int world)> partials;
  // Other arguments that give the same bits with a deterministic kernel, and the one among all of
  // these, or the same, that stands for them.
  std::function<std::vector<std::string>(std::string_view arguments)> same_bits;
  std::function<std::string(std::string_view arguments)> representative;
};
using Strategies = Registry<StrategyEntry>;

}  // namespace ringcheck
