// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cp/attention/kv_block.h"
#include "cp/layout/layout.h"
#include "cp/registry.h"
#include "cp/worlds/communicator.h"

namespace ringcheck {

// Brings the key-value block of every rank past this one, its own block first, then that of the
// rank before it, and so on round the ring: rank r visits owners r, r-1, ..., r-P+1 (mod P).
//
//   rotation.start(own);
//   while (const auto kv = rotation.next()) use(*kv);
//
// (Liu, Zaharia and Abbeel, Ring Attention, 2023, section 3.)
// On return, next() has already posted the transfer of the block after the one it hands out, so
// that communication overlaps with use(). A block is valid until the next call. The own K and V may lie apart, and are
// not written to.
class Rotation {
 public:
  virtual ~Rotation() = default;
  virtual void start(const KvBlock& own) = 0;
  virtual std::optional<KvBlock> next() = 0;
};

// Takes the gradients of visited blocks home to their owners. The gradient of owner o is
// ((d_o + d_{o+1}) + ...) + d_{o+P-1}, indices being the computing ranks mod P, whatever the
// rotation: so rotations agree bit for bit.
class GradientCarrier {
 public:
  virtual ~GradientCarrier() = default;
  // The gradients, as the kernel returns them, of the block that the rotation handed out last:
  // dk [batch, kv_heads, slots, dim], dv [batch, kv_heads, slots, dim_v].
  virtual void add(const at::Tensor& dk, const at::Tensor& dv) = 0;
  // After the last block: the finished gradients of the own block.
  virtual PackedKv home() = 0;
};

struct RotationOptions {
  bool keep = false;  // hold the gathered K and V from forward to backward
};

struct RotationEntry {
  std::function<std::unique_ptr<Rotation>(Communicator&, const Layout&, RotationOptions)> rotation;
  // gradient: the shape of the block of gradients, in accumulation type.
  std::function<std::unique_ptr<GradientCarrier>(Communicator&, const KvShape& gradient)> carrier;
  bool can_keep = false;
};
using Rotations = Registry<RotationEntry>;

// What makes the rotation of a name: Rotations::at, or that with something changed.
using RotationOf = std::function<RotationEntry(const std::string& name)>;

}  // namespace ringcheck
