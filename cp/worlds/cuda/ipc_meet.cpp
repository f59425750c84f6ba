// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// How a link comes to be, or is refused.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAAllocatorConfig.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include <array>
#include <stdexcept>

#include "cp/words.h"
#include "cp/worlds/cuda/ipc_link.h"
#include "cp/worlds/one_host.h"
#include "cp/worlds/share.h"

namespace ringcheck {
namespace {

// What fails on one rank is refused on all.
template <class Step>
void together(Communicator& host, const Step& step) {
  std::optional<std::string> why;
  try {
    step();
  } catch (const std::exception& error) {
    why = "transport ipc: " + words_of(error) + "; use transport nccl, or world kind thread";
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

// Maps the flags of all, and writes a first number to them.
void IpcLink::reach(const std::vector<Hello>& ranks) {
  std::vector<Host> hosts;
  for (const Hello& hello : ranks) hosts.push_back(hello.host);
  if (const auto apart = on_several_hosts(hosts))
    throw std::runtime_error(*apart + ", and CUDA shares memory only between processes of one host");
  if (!boxes_) boxes_.emplace(Letterboxes<Letter>::open(ranks[0].boxes.data(), rank_, size()));
  const c10::cuda::CUDAGuard device(gpu_.index());
  Flags::Batch first;
  for (int rank = 0; rank < size(); ++rank) {
    Peer& peer = peers_[rank];
    if (rank != rank_) check_peer_access(gpu_, ranks[rank].gpu.data());
    peer.flags = rank == rank_ ? flags_->memory() : peer.memory.at(ranks[rank].flags);
    for (const Flags::Kind kind : {Flags::Kind::kFree, Flags::Kind::kArrived})
      first.write(peer.flags, kind, rank_, size(), 1, 0);
  }
  first.queue(signals_);
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

}  // namespace ringcheck
