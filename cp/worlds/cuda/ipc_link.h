// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAStream.h>

#include <chrono>
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "cp/device/moment.h"
#include "cp/worlds/communicator.h"
#include "cp/worlds/cuda/flags.h"
#include "cp/worlds/cuda/foreign_memory.h"
#include "cp/worlds/letterboxes.h"

namespace ringcheck {

// The GPUs of processes on one host, a rank each, as one of them sees the others.
//
// A receiver invites: it says where its buffer lies, and its stream writes a number to the sender's
// flags once the buffer is free. The sender, once it has a message for the invitation, has a stream of
// its own wait for that number, copy into the receiver's memory by a copy engine, and write a number
// to the receiver's flags; then it tells the receiver's host, which lets its stream wait for that
// number. So each stream waits only for work that another host has queued already, whatever streams
// share a queue of the GPU, and no host waits for a GPU.
class IpcLink {
 public:
  // Which message between two ranks: those of a world and group count from 0.
  struct Id {
    int peer = 0;  // the rank at the other end
    int64_t world = 0, group = 0, ticket = 0;
    auto operator<=>(const Id&) const = default;
  };
  struct Outgoing {
    at::Tensor data;
    Moment ready;                         // it may be read
    std::function<void(void* to)> copy;   // by the current stream; of any data, called once
    bool queued = false;
    Moment copied = {};                   // once queued
  };
  struct Incoming {
    at::Tensor data;
    Moment free;                          // it may be written
    bool announced = false;               // its sender has queued the copy, and these are known:
    uint32_t number = 0;                  // of its flag
    int64_t bytes = 0;                    // as sent
    at::ScalarType dtype = at::kByte;
  };

  // Throws std::runtime_error on every rank, with the reason of one, where some cannot reach each other.
  // Collective.
  static std::shared_ptr<IpcLink> meet(Communicator& host, at::Device gpu);
  ~IpcLink();
  IpcLink(const IpcLink&) = delete;
  IpcLink& operator=(const IpcLink&) = delete;

  // Neither waits. A receive buffer is kept until a stream was held back for it, whoever drops it: a
  // peer may still write there.
  void send(const Id& id, std::shared_ptr<Outgoing> message);
  void receive(const Id& id, std::shared_ptr<Incoming> message);
  // Reads what the peers wrote, and queues every copy that can be.
  void progress();
  // What the current stream gets from now on comes after this message, which was announced. Once.
  void hold_back(const Id& id);
  // Peers unmap what this process has given back to CUDA. At most once a second: the driver is asked of
  // every allocation.
  void tell_freed();
  // Where the computation does not wait while messages come in.
  c10::Stream arrivals() const { return arrivals_; }

 private:
  struct Letter {
    enum class Kind : uint32_t { kInvitation, kArrival, kFreed };
    Kind kind = Kind::kFreed;
    uint32_t number = 0;  // of the flag
    int64_t world = 0, group = 0, ticket = 0;
    int64_t bytes = 0;
    at::ScalarType dtype = at::kByte;
    MemoryPlace place = {};  // of the receive buffer; what was freed
  };
  struct Hello;
  // What this rank has of another one.
  struct Peer {
    ForeignMemory memory;
    void* flags = nullptr;
    uint32_t invited = 1, announced = 1;  // the last numbers; 1 was written when they met
    std::optional<c10::cuda::CUDAStream> copies;
  };

  IpcLink(Communicator& host, at::Device gpu);
  void reach(const std::vector<Hello>& ranks);
  void check_flags() const;
  void read(int from, const Letter& letter);
  void push(int to, Outgoing& message, const Letter& invitation);
  int size() const { return static_cast<int>(peers_.size()); }

  int rank_;
  at::Device gpu_;
  c10::cuda::CUDAStream arrivals_, signals_;
  OwnMemory memory_;
  std::vector<Peer> peers_;
  std::unique_ptr<Flags> flags_;
  std::optional<Letterboxes<Letter>> boxes_;
  std::chrono::steady_clock::time_point told_freed_ = {};
  std::map<Id, std::shared_ptr<Outgoing>> sends_;     // not invited yet
  std::map<Id, Letter> invitations_;                  // nothing to send yet
  std::map<Id, std::shared_ptr<Incoming>> receives_;  // no stream waits for them yet
};

}  // namespace ringcheck
