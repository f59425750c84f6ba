// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cp/attention/plan.h"
#include "cp/registry.h"
#include "cp/worlds/communicator.h"

namespace ringcheck {

// One way to spread attention over the ranks of a communicator: one forward pass and, afterwards, its
// backward pass, any number of times. May keep state of the one for the others. Collective.
class Strategy {
 public:
  virtual ~Strategy() = default;
  // Of this rank's queries over the keys of all ranks; out in accumulation type, or rounded to the
  // dtype of q where nothing more is added to it.
  virtual Partial forward(const QBlock& q, const KvBlock& own) = 0;
  // Gradients of this rank's q, k and v, the terms of all ranks included, in accumulation type, or in the
  // dtype of the inputs where the kernel returns them so or the strategy finishes them.
  virtual Gradients backward(const QBlock& q, const KvBlock& own, const Saved& saved) = 0;
};

// Blocks of the queries of every rank against the keys of every rank.
std::vector<BlockShape> pairs_of_shards(const Plan& plan, const BlockShape& shape);

// The calls of a kernel in which a block of a batch with these lengths is computed.
std::vector<BlockShape> calls_of(const BlockShape& block, const Lengths& lengths);

// A strategy and what belongs to it. Its arguments are the text behind its name: ":p2p" of
// "ring:p2p".
struct StrategyEntry {
  std::string says;  // one line for help and docs
  // The one text of these arguments. Throws std::invalid_argument: value, limit, fix.
  std::function<std::string(std::string_view arguments)> canonical;
  // Every text of arguments that lists and profiles may take, canonical.
  std::function<std::vector<std::string>()> values;
  std::function<std::unique_ptr<Strategy>(Communicator&, const Plan&)> make;
  // Why it cannot compute blocks of this shape, beside what the kernel says.
  std::function<std::optional<std::string>(const Plan&, const BlockShape&)> refuses;
  // How many partial results a row of O, or of a gradient, is at most merged from.
  std::function<int(int world)> partials;
  // Of values(), the others whose result is the same bit for bit, by a deterministic kernel.
  std::function<std::vector<std::string>(std::string_view arguments)> same_bits;
  // Among these arguments and same_bits, those that stand for all of them.
  std::function<std::string(std::string_view arguments)> representative;
  // The blocks that it hands to the kernel, which is asked about each.
  std::function<std::vector<BlockShape>(const Plan&, const BlockShape&)> blocks = pairs_of_shards;
  // Query and key-value heads must be multiples of this.
  std::function<int64_t(std::string_view arguments, int world)> heads_unit =
      [](std::string_view, int) { return int64_t{1}; };
  bool finishes_gradients = false;  // by Plan::finished, and dv in the dtype
};
using Strategies = Registry<StrategyEntry>;

// Why a plan of a strategy cannot run on blocks of this shape, or nothing: asks the strategy, and
// the kernel about every block that the strategy hands to it.
std::optional<std::string> refuses(const StrategyEntry& strategy, const Plan& plan,
                                   const BlockShape& shape);

}  // namespace ringcheck
