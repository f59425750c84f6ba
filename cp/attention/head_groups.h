// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "cp/attention/kv_block.h"
#include "cp/layout/sequence_order.h"
#include "cp/worlds/communicator.h"

namespace ringcheck {

// K and V of all ranks in the order of the sequence, a group of heads at a time: while one group is
// attended the next is under way, so that two groups are held and, of three and more, never all of K and V (all-gather
// context parallelism: Dubey et al., The Llama 3 Herd of Models, 2024, section 3.3.2). Collective.
//
//   GatheredHeads heads(comm, order, own, groups);
//   while (const auto kv = heads.next()) use(*kv);
class GatheredHeads {
 public:
  // `groups` divides the heads of `own`; both `order` and `own` outlive this.
  GatheredHeads(Communicator& comm, const SequenceOrder& order, const KvBlock& own, int64_t groups);

  // The next group, [batch, heads / groups, length, ...]: whoever keeps it holds its memory.
  std::optional<KvBlock> next();

 private:
  void post();

  Communicator& comm_;
  const SequenceOrder& order_;
  const KvBlock& own_;
  int64_t groups_, posted_ = 0, taken_ = 0;
  KvShape share_;  // of a group, of one rank
  at::Tensor sent_;
  std::vector<at::Tensor> arriving_;  // by rank
  Pending arrival_;
};

// Takes the terms of dK and dV of such groups home to the ranks that hold their positions, each of
// which adds those of all ranks in the order of the ranks, its own among them. The terms of one group
// are under way while the next is computed. Collective.
class HeadsHome {
 public:
  // `gradient`: of the own block, in accumulation type. `order` outlives this.
  HeadsHome(Communicator& comm, const SequenceOrder& order, const KvShape& gradient, int64_t groups);

  // This rank's terms of the next group: dk [batch, heads / groups, length, dim], dv likewise. Hand them over: of rounded ones
  // only the wider form is held.
  void add(at::Tensor dk, at::Tensor dv);
  // After the last group: the finished gradients of the own block, 0 on pad slots.
  PackedKv home();

 private:
  at::Tensor traveller(const KvShape& shape);
  // What the group before brought.
  void take();

  Communicator& comm_;
  const SequenceOrder& order_;
  PackedKv sum_;
  KvShape share_;  // of a group, of one rank
  std::vector<at::Tensor> terms_, arriving_;  // of this rank, by owner; for this rank, by who computed them
  Pending arrival_;
  int64_t added_ = 0;
};

}  // namespace ringcheck
