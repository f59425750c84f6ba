// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/cuda/ipc_link.h"

#include <c10/core/StreamGuard.h>

#include <stdexcept>
#include <utility>

namespace ringcheck {
namespace {

// Copies by several streams collide where a host has more GPUs than this; then they go one behind the
// other, and each rank begins with another peer.
constexpr int kMostApart = 4;

}  // namespace

IpcLink::IpcLink(Communicator& host, at::Device gpu)
    : rank_(host.rank()),
      gpu_(gpu),
      arrivals_(c10::cuda::getStreamFromPool(true, gpu.index())),
      signals_(c10::cuda::getStreamFromPool(true, gpu.index())),
      memory_([this](uint64_t allocation) {
        Letter letter;
        letter.place.allocation = allocation;
        for (int peer = 0; peer < size(); ++peer)
          if (peer != rank_) boxes_->send(peer, letter);
      }),
      peers_(host.size()) {
  const bool apart = size() <= kMostApart;
  for (Peer& peer : peers_)
    peer.copies = apart || !peers_[0].copies ? c10::cuda::getStreamFromPool(true, gpu.index()) : peers_[0].copies;
}

IpcLink::~IpcLink() {
  // Peers that were invited may write there as long as they live: LibTorch must not use it again.
  if (!receives_.empty()) new auto(std::move(receives_));
}

void IpcLink::send(const Id& id, std::shared_ptr<Outgoing> message) {
  if (message->kept) {
    kept_.emplace_back(id, std::move(message));
    return push_kept();
  }
  const auto invitation = invitations_.extract(id);
  if (invitation) push(id.peer, *message, invitation.mapped());
  else sends_.emplace(id, std::move(message));
}

int64_t IpcLink::next_kept(uint64_t graph) {
  if (std::exchange(graph_, graph) != graph)
    for (Peer& peer : peers_) peer.before = peer.copied = Moment();
  return ++posted_;
}

// In the order of their posting.
void IpcLink::push_kept() {
  while (!kept_.empty()) {
    const auto invitation = invitations_.extract(kept_.front().first);
    if (!invitation) return;
    const auto [id, message] = std::move(kept_.front());
    kept_.pop_front();  // also where it cannot be pushed
    push(id.peer, *message, invitation.mapped());
  }
}

int64_t IpcLink::slot_from(int peer) {
  std::vector<int64_t>& slots = peers_[peer].slots;
  int64_t& used = peers_[peer].used;
  if (slots.empty() && used < Flags::slots(size())) return ++used;
  if (slots.empty())
    throw std::runtime_error("transport ipc: graphs hold all the transfers from a peer that they can; make fewer in one job, or use "
                             "transport nccl");
  const int64_t slot = slots.back();
  slots.pop_back();
  return slot;
}

void IpcLink::give_back(int peer, const std::vector<int64_t>& slots) {
  for (const int64_t slot : slots) peers_[peer].slots.push_back(slot);
}

void IpcLink::forget_graphs(int64_t world, int64_t group) {
  const auto is_its = [&](const Id& id) { return id.world == world && id.group == group; };
  std::erase_if(kept_, [&](const auto& message) { return is_its(message.first); });
  std::erase_if(invitations_, [&](const auto& invitation) { return is_its(invitation.first) && invitation.second.slot > 0; });
}

// A letter comes after what it says is queued.
Moment IpcLink::receive(const std::vector<std::pair<Id, std::shared_ptr<Incoming>>>& messages, const Moment& free) {
  std::vector<Letter> letters;
  Flags::Batch flags;
  for (const auto& [id, message] : messages) letters.push_back(invite(id, *message, flags));
  const c10::StreamGuard signals(signals_.unwrap());
  free.hold_back(gpu_);
  flags.queue(signals_);
  for (size_t i = 0; i < messages.size(); ++i) {
    const auto& [id, message] = messages[i];
    receives_.emplace(id, message);
    boxes_->send(id.peer, letters[i]);
  }
  return messages.front().second->kept ? Moment::now(gpu_) : Moment();
}

IpcLink::Letter IpcLink::invite(const Id& id, Incoming& message, Flags::Batch& free) {
  Peer& peer = peers_[id.peer];
  if (message.first) {
    if (message.kept) peer.slot = slot_from(id.peer);
    else ++peer.invited;
  }
  if (message.kept) message.slot = peer.slot;
  Letter letter{.kind = Letter::Kind::kInvitation, .number = message.kept ? 1 : peer.invited,
                .slot = message.slot, .first = message.first, .last = message.last, .world = id.world, .group = id.group, .ticket = id.ticket,
                .bytes = static_cast<int64_t>(message.data.nbytes()),
                .dtype = message.data.scalar_type(), .pieces = message.pieces};
  if (letter.bytes > 0) letter.place = memory_.place_of(message.data.const_data_ptr());
  if (message.first) free.write(peer.flags, Flags::Kind::kFree, rank_, size(), letter.number, letter.slot);
  return letter;
}

void IpcLink::progress() {
  boxes_->send_kept();
  for (int places = 0; places < size(); ++places) {
    const int from = (rank_ + 1 + places) % size();
    while (const auto letter = boxes_->receive(from)) read(from, *letter);
  }
}

void IpcLink::tell_freed() {
  const auto now = std::chrono::steady_clock::now();
  if (now - told_freed_ < std::chrono::seconds(1)) return;
  told_freed_ = now;
  memory_.look_for_freed();
}

void IpcLink::read(int from, const Letter& letter) {
  const Id id{from, letter.world, letter.group, letter.ticket};
  if (letter.kind == Letter::Kind::kFreed) return peers_[from].memory.forget(letter.place.allocation);
  if (letter.kind == Letter::Kind::kArrival) {
    Incoming& message = *receives_.at(id);
    message.number = letter.number;
    message.bytes = letter.bytes;
    message.dtype = letter.dtype;
    message.announced = true;
    return;
  }
  const auto message = sends_.extract(id);
  if (message) return push(from, *message.mapped(), letter);
  invitations_.emplace(id, letter);
  push_kept();
}

// A message of another size than was expected is announced, but not copied: its receiver refuses it.
void IpcLink::push(int to, Outgoing& message, const Letter& invitation) {
  const bool kept = message.kept > 0;
  if (kept != (invitation.slot > 0))
    throw std::runtime_error("transport ipc: a graph is to hold this message on one rank alone; make it on both at once");
  Peer& peer = peers_[to];
  const c10::cuda::CUDAStream stream = *peer.copies;
  if (kept && std::exchange(pushed_, message.kept) != message.kept)
    for (Peer& other : peers_) other.before = other.copied;
  const auto bytes = static_cast<int64_t>(message.data.nbytes());
  {
    const c10::StreamGuard copies(stream.unwrap());
    message.ready.hold_back(gpu_);
    message.told.hold_back(gpu_);
    for (const Peer& other : peers_)
      if (kept) other.before.hold_back(gpu_);
    Flags::Batch flags;
    if (invitation.first) flags.await(*flags_, Flags::Kind::kFree, to, invitation.number, invitation.slot);
    flags.queue(stream);
    if (bytes > 0 && bytes == invitation.bytes)
      message.copy(to == rank_ ? receives_.at({to, invitation.world, invitation.group,
                                               invitation.ticket})->data.mutable_data_ptr()
                               : peer.memory.at(invitation.place),
                   invitation.pieces);
    Letter arrival = invitation;
    arrival.kind = Letter::Kind::kArrival;
    arrival.bytes = bytes;
    arrival.dtype = message.data.scalar_type();
    peer.arrivals.push_back(arrival);
    if (message.last || invitation.last) announce(to, stream, kept);
    peer.copied = message.copied = Moment::now(gpu_);
  }
  message.queued = true;
  message.copy = nullptr;
}

// What was copied is there. A graph waits once for each transfer, so that both ranks must have posted it alike.
void IpcLink::announce(int to, const c10::cuda::CUDAStream& stream, bool kept) {
  Peer& peer = peers_[to];
  std::vector<Letter> arrivals = std::exchange(peer.arrivals, {});
  if (!kept) std::erase_if(arrivals, [](const Letter& arrival) { return arrival.slot > 0; });  // of a graph that failed
  const int64_t slot = arrivals.front().slot;
  for (size_t i = 0; kept && i < arrivals.size(); ++i)
    if (arrivals[i].slot != slot || arrivals[i].first != (i == 0))
      throw std::runtime_error("transport ipc: a transfer that a graph is to hold sends rank " + std::to_string(to) +
                               " something else than that one receives by one; post the same on both");
  const uint32_t number = kept ? 1 : ++peer.announced;
  Flags::Batch flags;
  flags.write(peer.flags, Flags::Kind::kArrived, rank_, size(), number, slot);
  flags.queue(stream);
  for (Letter arrival : arrivals) {
    arrival.number = number;
    boxes_->send(to, arrival);
  }
}

void IpcLink::hold_back(const std::vector<Id>& ids) {
  Flags::Batch flags;
  for (const Id& id : ids) {
    const std::shared_ptr<Incoming> message = receives_.extract(id).mapped();
    uint32_t& awaited = peers_[id.peer].awaited;
    if (message->kept ? !message->first : message->number <= awaited) continue;
    if (!message->kept) awaited = message->number;
    flags.await(*flags_, Flags::Kind::kArrived, id.peer, message->number, message->slot);
  }
  flags.queue(c10::cuda::getCurrentCUDAStream(gpu_.index()));
}

}  // namespace ringcheck
