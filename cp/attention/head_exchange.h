// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cp/device/beside.h"
#include "cp/layout/sequence_order.h"
#include "cp/worlds/communicator.h"

namespace ringcheck {

// A tensor in both of its forms: some positions of all heads, and all positions of some heads.
struct Exchanged {
  at::Tensor shard;     // [batch, heads, slots, ...], contiguous
  at::Tensor sequence;  // [batch, heads / (P G), length, ...]
  const SequenceOrder& order;
  MemoryTag tag = MemoryTag::kOther;  // of what travels
  double pad = 0;                     // what pad slots of the shard get
};

// Heads for positions, by an all-to-all of each tensor (Jacobs et al., DeepSpeed-Ulysses, 2023,
// section 3.1), in G groups: of group g rank r of P gets the heads [(r G + g) n, (r G + g + 1) n), where
// n = heads / (P G), of the whole sequence. The tensors of a call travel together, in a message for each
// tensor, peer and entry of the batch. A shard is sent from, or received into, without a copy. So is a
// sequence where shards are straight stretches of it; elsewhere its end of a message is a buffer, which is
// put in order beside the computation, as the own part always is. Both functions are collective, and done
// when what they return has been waited for; until then the tensors are held.
class HeadExchange {
 public:
  explicit HeadExchange(Communicator& comm, int64_t groups = 1)
      : comm_(comm), groups_(groups), others_(comm.device()), own_(comm.device()) {}

  // Fills the sequences of a group from the shards of all ranks.
  Pending to_sequences(std::vector<Exchanged> tensors, int64_t group, const char* label);
  // Fills the heads of a group in the shards from the sequences of all ranks.
  Pending to_shards(std::vector<Exchanged> tensors, int64_t group, const char* label);

 private:
  at::Tensor heads_of(int rank, const at::Tensor& shard, int64_t group) const;
  std::vector<at::Tensor> travelling(const std::vector<Exchanged>& tensors);
  // Puts the own heads of a group in order, or takes them from there, after `begin`.
  void put_own(const std::vector<Exchanged>& tensors, int64_t group, const Moment& begin);
  void take_own(const std::vector<Exchanged>& tensors, int64_t group, const Moment& begin);
  template <class Part>
  std::vector<Message> messages(const std::vector<Exchanged>& tensors, const Part& part_of) const;
  // Of the others, in the order in which the ring has them. There is a buffer for what is not straight.
  std::vector<Message> in_shards(const std::vector<Exchanged>& tensors, int64_t group) const;
  std::vector<Message> in_sequences(const std::vector<Exchanged>& tensors, const std::vector<at::Tensor>& buffers) const;

  Communicator& comm_;
  int64_t groups_;
  Beside others_, own_;  // where the parts of the other ranks, and the own ones, are put in order
};

}  // namespace ringcheck
