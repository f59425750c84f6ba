// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/head_groups.h"

namespace ringcheck {
namespace {

KvShape share_of(KvShape shape, int64_t groups) {
  shape.heads /= groups;
  return shape;
}

// The heads of a group, a view.
at::Tensor group_of(const at::Tensor& x, int64_t group, int64_t heads) {
  return x.narrow(1, group * heads, heads);
}

}  // namespace

GatheredHeads::GatheredHeads(Communicator& comm, const SequenceOrder& order, const KvBlock& own,
                             int64_t groups)
    : comm_(comm), order_(order), own_(own), groups_(groups), share_(share_of(own.shape, groups)) {
  post();
}

void GatheredHeads::post() {
  if (posted_ == groups_) return;
  const PackedKv part{comm_.buffer(share_.elements(), share_.dtype, MemoryTag::kKv), share_};
  Moves moves;
  moves.add(part.k(), group_of(own_.k(), posted_, share_.heads));
  moves.add(part.v(), group_of(own_.v(), posted_, share_.heads));
  moves.make();
  sent_ = part.packed;
  arriving_ = comm_.buffers(share_.elements(), share_.dtype, MemoryTag::kKv);
  arrival_ = comm_.all_gather(sent_, arriving_, {"gather kv heads", static_cast<int>(posted_)});
  ++posted_;
}

std::optional<KvBlock> GatheredHeads::next() {
  if (taken_ == groups_) return std::nullopt;
  arrival_.wait();
  sent_.reset();
  KvBlock block;
  block.shape = share_;
  block.shape.slots = order_.length();
  block.packed = comm_.buffer(block.shape.elements(), block.shape.dtype, MemoryTag::kKv);
  block.positions = order_.positions();
  block.heads = {taken_++ * share_.heads, share_.heads};
  Moves moves;
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const PackedKv part{arriving_[rank], share_};
    order_.put(part.k(), rank, block.k(), moves);
    order_.put(part.v(), rank, block.v(), moves);
  }
  moves.make();
  arriving_.clear();
  post();
  return block;
}

HeadsHome::HeadsHome(Communicator& comm, const SequenceOrder& order, const KvShape& gradient,
                     int64_t groups)
    : comm_(comm), order_(order), share_(share_of(gradient, groups)) {
  sum_ = {traveller(gradient), gradient};
}

at::Tensor HeadsHome::traveller(const KvShape& shape) {
  return comm_.buffer(shape.elements(), shape.dtype, MemoryTag::kTraveller);
}

void HeadsHome::add(at::Tensor dk, at::Tensor dv) {
  take();
  dk = dk.to(share_.dtype);
  dv = dv.to(share_.dtype);
  terms_.resize(comm_.size());
  arriving_.resize(comm_.size());
  Moves moves;
  for (int rank = 0; rank < comm_.size(); ++rank) {
    terms_[rank] = traveller(share_);
    const PackedKv term{terms_[rank], share_};
    order_.take(dk, rank, term.k(), 0, moves);
    order_.take(dv, rank, term.v(), 0, moves);
    if (rank != comm_.rank()) arriving_[rank] = traveller(share_);
  }
  moves.make();
  std::vector<at::Tensor> sent = terms_;
  sent[comm_.rank()].reset();
  arrival_ = comm_.all_to_all(sent, arriving_, {"send gradients of heads", static_cast<int>(added_)});
  arriving_[comm_.rank()] = terms_[comm_.rank()];
  ++added_;
}

void HeadsHome::take() {
  if (added_ == 0) return;
  arrival_.wait();
  const at::Tensor dk = group_of(sum_.k(), added_ - 1, share_.heads);
  const at::Tensor dv = group_of(sum_.v(), added_ - 1, share_.heads);
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const PackedKv term{arriving_[rank], share_};
    rank == 0 ? dk.copy_(term.k()) : dk.add_(term.k());
    rank == 0 ? dv.copy_(term.v()) : dv.add_(term.v());
  }
  terms_.clear();
  arriving_.clear();
}

PackedKv HeadsHome::home() {
  take();
  return sum_;
}

}  // namespace ringcheck
