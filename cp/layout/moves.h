// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "cp/registry.h"

namespace ringcheck {

// Copies that are made at once: on a device in one launch, where each alone would take longer to
// begin than to make.
class Moves {
 public:
  struct Move {
    at::Tensor to, from;  // of one size, dtype and device
  };
  // What one copy writes no other one touches.
  void add(at::Tensor to, at::Tensor from) { list_.push_back({std::move(to), std::move(from)}); }
  // On the current stream. Nothing is left to be made.
  void make();

 private:
  std::vector<Move> list_;
};

// By the kind of device: makes those of the copies that it can, and leaves the others.
using MoveForms = Registry<std::function<void(std::vector<Moves::Move>&)>>;

}  // namespace ringcheck
