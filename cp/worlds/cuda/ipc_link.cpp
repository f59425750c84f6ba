// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/cuda/ipc_link.h"

#include <c10/core/StreamGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAAllocatorConfig.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "cp/worlds/one_host.h"
#include "cp/worlds/share.h"

namespace ringcheck {
namespace {

// Copies by several streams collide where a host has more GPUs than this; then they go one behind the
// other, and each rank begins with another peer.
constexpr int kMostApart = 4;

// What fails on one rank is refused on all.
template <class Step>
void together(Communicator& host, const Step& step) {
  const auto refused = [](const char* why) {
    return std::string("transport ipc: ") + why + "; use transport nccl, or world kind thread";
  };
  std::optional<std::string> why;
  try {
    step();
  } catch (const c10::Error& error) {
    why = refused(error.what_without_backtrace());
  } catch (const std::exception& error) {
    why = refused(error.what());
  }
  refuse_together(host, why);
}

void check_allocator() {
  using namespace c10::cuda::CUDACachingAllocator;
  if (name() != "native" || CUDAAllocatorConfig::expandable_segments())
    throw std::runtime_error("PYTORCH_CUDA_ALLOC_CONF asks for memory that CUDA does not export to "
                             "other processes; leave out expandable_segments and backend");
}

void check_peer_access(at::Device gpu, const char* other) {
  int there = 0, reaches = 0;
  if (cudaDeviceGetByPCIBusId(&there, other) != cudaSuccess) {
    cudaGetLastError();
    return;  // this process does not see it; whether it can map its memory is seen next
  }
  if (there == gpu.index()) return;
  C10_CUDA_CHECK(cudaDeviceCanAccessPeer(&reaches, gpu.index(), there));
  if (reaches == 0)
    throw std::runtime_error(gpu.str() + " does not reach the memory of the GPU at " + other);
}

}  // namespace

// What each rank says of itself.
struct IpcLink::Hello {
  Host host;
  std::array<char, 128> boxes = {};  // rank 0's
  std::array<char, 32> gpu = {};     // its address on the PCI bus
  MemoryPlace flags;
};

std::shared_ptr<IpcLink> IpcLink::meet(Communicator& host, at::Device gpu) {
  std::shared_ptr<IpcLink> link;
  Hello own;
  own.host = this_host();
  together(host, [&] {
    check_allocator();
    const c10::cuda::CUDAGuard device(gpu.index());
    link.reset(new IpcLink(host, gpu));
    link->flags_ = std::make_unique<Flags>(host.size());
    own.flags = link->memory_.place_of(link->flags_->memory());
    C10_CUDA_CHECK(cudaDeviceGetPCIBusId(own.gpu.data(), own.gpu.size(), gpu.index()));
    if (host.rank() != 0) return;
    link->boxes_.emplace(Letterboxes<Letter>::create(host.size()));
    link->boxes_->name().copy(own.boxes.data(), own.boxes.size() - 1);
  });
  const std::vector<Hello> all = share(host, own, {"share memory"});
  together(host, [&] { link->reach(all); });
  if (host.rank() == 0) link->boxes_->forget_name();
  together(host, [&] { link->check_flags(); });
  return link;
}

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

// Maps the flags of all, and writes a first number to them.
void IpcLink::reach(const std::vector<Hello>& ranks) {
  std::vector<Host> hosts;
  for (const Hello& hello : ranks) hosts.push_back(hello.host);
  if (const auto apart = on_several_hosts(hosts))
    throw std::runtime_error(*apart + ", and CUDA shares memory only between processes of one host");
  if (!boxes_) boxes_.emplace(Letterboxes<Letter>::open(ranks[0].boxes.data(), rank_, size()));
  const c10::cuda::CUDAGuard device(gpu_.index());
  for (int rank = 0; rank < size(); ++rank) {
    Peer& peer = peers_[rank];
    if (rank != rank_) check_peer_access(gpu_, ranks[rank].gpu.data());
    peer.flags = rank == rank_ ? flags_->memory() : peer.memory.at(ranks[rank].flags);
    for (const Flags::Kind kind : {Flags::Kind::kFree, Flags::Kind::kArrived})
      Flags::write(signals_, peer.flags, kind, rank_, size(), 1, 0);
  }
  C10_CUDA_CHECK(cudaStreamSynchronize(signals_));
}

void IpcLink::check_flags() const {
  for (const Flags::Kind kind : {Flags::Kind::kFree, Flags::Kind::kArrived}) {
    const std::vector<uint32_t> numbers = flags_->read(kind);
    for (int rank = 0; rank < size(); ++rank)
      if (numbers[rank] != 1)
        throw std::runtime_error("what rank " + std::to_string(rank) +
                                 " wrote into its memory does not arrive");
  }
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
    const auto& [id, message] = kept_.front();
    const auto invitation = invitations_.extract(id);
    if (!invitation) return;
    push(id.peer, *message, invitation.mapped());
    kept_.pop_front();
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

void IpcLink::receive(const Id& id, std::shared_ptr<Incoming> message) {
  Peer& peer = peers_[id.peer];
  if (message->first) {
    if (message->kept) peer.slot = slot_from(id.peer);
    else ++peer.invited;
  }
  if (message->kept) message->slot = peer.slot;
  Letter letter{.kind = Letter::Kind::kInvitation, .number = message->kept ? 1 : peer.invited,
                .slot = message->slot, .first = message->first, .last = message->last, .world = id.world, .group = id.group, .ticket = id.ticket,
                .bytes = static_cast<int64_t>(message->data.nbytes()),
                .dtype = message->data.scalar_type(), .pieces = message->pieces};
  if (letter.bytes > 0) letter.place = memory_.place_of(message->data.const_data_ptr());
  if (message->first) {
    const c10::StreamGuard signals(signals_.unwrap());
    message->free.hold_back(gpu_);
    Flags::write(signals_, peer.flags, Flags::Kind::kFree, rank_, size(), letter.number, letter.slot);
    if (message->kept) message->told = Moment::now(gpu_);
  }
  receives_.emplace(id, std::move(message));
  boxes_->send(id.peer, letter);
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
    if (invitation.first) flags_->await(stream, Flags::Kind::kFree, to, invitation.number, invitation.slot);
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
  const std::vector<Letter> arrivals = std::exchange(peer.arrivals, {});
  const int64_t slot = arrivals.front().slot;
  for (size_t i = 0; kept && i < arrivals.size(); ++i)
    if (arrivals[i].slot != slot || arrivals[i].first != (i == 0))
      throw std::runtime_error("transport ipc: a transfer that a graph is to hold sends rank " + std::to_string(to) +
                               " something else than that one receives by one; post the same on both");
  const uint32_t number = kept ? 1 : ++peer.announced;
  Flags::write(stream, peer.flags, Flags::Kind::kArrived, rank_, size(), number, slot);
  for (Letter arrival : arrivals) {
    arrival.number = number;
    boxes_->send(to, arrival);
  }
}

void IpcLink::hold_back(const Id& id) {
  const std::shared_ptr<Incoming> message = receives_.extract(id).mapped();
  uint32_t& awaited = peers_[id.peer].awaited;
  if (message->kept ? !message->first : message->number <= awaited) return;
  if (!message->kept) awaited = message->number;
  flags_->await(c10::cuda::getCurrentCUDAStream(gpu_.index()), Flags::Kind::kArrived, id.peer, message->number, message->slot);
}

}  // namespace ringcheck
