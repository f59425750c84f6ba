// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/head_exchange.h"

namespace ringcheck {

// [batch, heads / (P G), slots, ...], a view
at::Tensor HeadExchange::heads_of(int rank, const at::Tensor& shard, int64_t group) const {
  const int64_t share = shard.size(1) / (comm_.size() * groups_);
  return shard.narrow(1, (rank * groups_ + group) * share, share);
}

// What the others send, or get, and cannot in its place: [P - 1, batch, heads / (P G), slots, ...] of each tensor.
std::vector<at::Tensor> HeadExchange::travelling(const std::vector<Exchanged>& tensors) {
  std::vector<at::Tensor> buffers(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Exchanged& x = tensors[i];
    if (comm_.size() == 1 || x.order.straight()) continue;
    auto sizes = heads_of(0, x.shard, 0).sizes().vec();
    sizes.insert(sizes.begin(), comm_.size() - 1);
    const int64_t elements = x.shard.numel() / (comm_.size() * groups_) * sizes[0];
    buffers[i] = comm_.buffer(elements, x.shard.scalar_type(), x.tag).view(sizes);
  }
  return buffers;
}

// A message for each tensor, peer and entry of the batch.
template <class Part>
std::vector<Message> HeadExchange::messages(const std::vector<Exchanged>& tensors, const Part& part_of) const {
  std::vector<Message> messages;
  for (size_t i = 0; i < tensors.size(); ++i)
    for (int place = 1; place < comm_.size(); ++place) {
      const int peer = comm_.neighbour(place);
      const at::Tensor part = part_of(i, place, peer);
      for (int64_t b = 0; b < part.size(0); ++b) messages.push_back({part.select(0, b), peer, tensors[i].order.straight()});
    }
  return messages;
}

// What is sent is of this rank's positions, and what is received, too: those of its shard.
std::vector<Message> HeadExchange::in_shards(const std::vector<Exchanged>& tensors, int64_t group) const {
  return messages(tensors, [&](size_t i, int, int peer) {
    const Exchanged& x = tensors[i];
    const at::Tensor heads = heads_of(peer, x.shard, group);
    return x.order.straight() ? x.order.part(heads, comm_.rank()) : heads;
  });
}

std::vector<Message> HeadExchange::in_sequences(const std::vector<Exchanged>& tensors,
                                                const std::vector<at::Tensor>& buffers) const {
  return messages(tensors, [&](size_t i, int place, int peer) {
    const Exchanged& x = tensors[i];
    return x.order.straight() ? x.order.place(x.sequence, peer) : buffers[i].select(0, place - 1);
  });
}

void HeadExchange::put_own(const std::vector<Exchanged>& tensors, int64_t group, const Moment& begin) {
  own_.after(begin, [&] {
    Moves own;
    for (const Exchanged& x : tensors)
      x.order.put(heads_of(comm_.rank(), x.shard, group), comm_.rank(), x.sequence, own);
    own.make();
  });
}

void HeadExchange::take_own(const std::vector<Exchanged>& tensors, int64_t group, const Moment& begin) {
  own_.after(begin, [&] {
    Moves own;
    for (const Exchanged& x : tensors)
      x.order.take(x.sequence, comm_.rank(), heads_of(comm_.rank(), x.shard, group), x.pad, own);
    own.make();
  });
}

// Nothing comes before the messages: the own part is put in its place while they are under way.
Pending HeadExchange::to_sequences(std::vector<Exchanged> tensors, int64_t group, const char* label) {
  std::vector<at::Tensor> buffers = travelling(tensors);
  Pending arrival;
  if (comm_.size() > 1)
    arrival = comm_.transfer(in_shards(tensors, group), in_sequences(tensors, buffers), {label, static_cast<int>(group)});
  return Pending([this, group, begin = Moment::now(comm_.device()), tensors = std::move(tensors),
                  buffers = std::move(buffers), arrival = std::move(arrival)]() mutable {
    others_.after({}, [&] { arrival.wait(); });
    put_own(tensors, group, begin);
    others_.after({}, [&] {
      Moves others;
      for (size_t i = 0; i < buffers.size(); ++i)
        for (int place = 1; buffers[i].defined() && place < comm_.size(); ++place)
          tensors[i].order.put(buffers[i].select(0, place - 1), comm_.neighbour(place), tensors[i].sequence, others);
      others.make();
    });
    own_.join();
    others_.join();
  });
}

Pending HeadExchange::to_shards(std::vector<Exchanged> tensors, int64_t group, const char* label) {
  std::vector<at::Tensor> buffers = travelling(tensors);
  Pending arrival;
  const Moment begin = Moment::now(comm_.device());
  others_.after(begin, [&] {
    if (comm_.size() == 1) return;
    Moves others;
    for (size_t i = 0; i < buffers.size(); ++i)
      for (int place = 1; buffers[i].defined() && place < comm_.size(); ++place)
        tensors[i].order.take(tensors[i].sequence, comm_.neighbour(place), buffers[i].select(0, place - 1),
                              tensors[i].pad, others);
    others.make();
    arrival = comm_.transfer(in_sequences(tensors, buffers), in_shards(tensors, group), {label, static_cast<int>(group)});
  });
  return Pending([this, group, begin, tensors = std::move(tensors), buffers = std::move(buffers),
                  arrival = std::move(arrival)]() mutable {
    others_.after({}, [&] { arrival.wait(); });
    take_own(tensors, group, begin);
    own_.join();
    others_.join();
  });
}

}  // namespace ringcheck
