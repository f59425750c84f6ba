// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAStream.h>

#include <chrono>
#include <compare>
#include <deque>
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
#include "cp/worlds/transport.h"

namespace ringcheck {

// The GPUs of processes on one host, a rank each, as one of them sees the others.
//
// A receiver invites: it says where its buffer lies, and its stream writes a number to the sender's
// flags once the buffer is free. The sender, once it has a message for the invitation, has a stream of
// its own wait for that number, copy into the receiver's memory by a copy engine, and write a number
// to the receiver's flags; then it tells the receiver's host, which lets its stream wait for that
// number. What one transfer receives from a peer has one number, and so has what it sends to it. So each
// stream waits only for work that another host has queued already, whatever streams share a queue of the
// GPU, and no host waits for a GPU.
//
// Messages that a graph is to hold ("kept") are so on both of their ranks, whose hosts meet in the same way while they
// make it. At a replay they do not, and a stream may wait for what another rank has not queued yet, in front of
// something else in one queue of the GPU. No such wait lasts, as of each transfer t a rank
//   F  says that its buffers are free,
//   C  waits for the peer's F and copies: after its own F, and after its C of all transfers before t,
//   A  waits for what arrives: after its own F and C.
// and all ranks post their transfers in one order. Let t be the first that is not done. Every F of t can be reached: the
// waits that might stand in front of one are of transfers before t, as those of t and later ones come after it. So every
// C of t ends, for the same reason, and then every A.
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
    std::function<void(void* to, const Pieces& there)> copy;  // by the current stream; of any data, called once
    bool last = true;                     // of what its transfer sends to this peer
    int64_t kept = 0;                     // the transfer that a graph keeps, counted from 1
    Moment told = {};                     // of what it is posted with: peers know of the free buffers
    bool queued = false;
    Moment copied = {};                   // once queued
  };
  struct Incoming {
    at::Tensor data;
    Pieces pieces;
    bool first = true, last = true;       // of what its transfer receives from this peer
    bool kept = false;                    // by a graph
    int64_t slot = 0;                     // of its flags, once it was posted; 0 where it is not kept
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
  // All that a transfer receives, into buffers that are free at once. Of a graph, returns when the peers know.
  Moment receive(const std::vector<std::pair<Id, std::shared_ptr<Incoming>>>& messages, const Moment& free);
  // Reads what the peers wrote, and queues every copy that can be.
  void progress();
  bool all_told() const { return boxes_->all_sent(); }  // no letter waits here for room in a box
  // What the current stream gets from now on comes after these messages, which were announced. Once.
  void hold_back(const std::vector<Id>& ids);
  // The next transfer that a graph is to keep; of a new graph nothing comes after those of others.
  int64_t next_kept(uint64_t graph);
  // Slots of the flags of messages from a peer, of graphs that are not replayed any more.
  void give_back(int peer, const std::vector<int64_t>& slots);
  // Messages of a communicator that is gone which a graph was to hold, and does not: the peer was late, or failed.
  void forget_graphs(int64_t world, int64_t group);
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
    int64_t slot = 0;     // of the flag
    bool first = false, last = false;  // of what the receiver posted with it from this sender
    int64_t world = 0, group = 0, ticket = 0;
    int64_t bytes = 0;
    at::ScalarType dtype = at::kByte;
    MemoryPlace place = {};  // of the receive buffer; what was freed
    Pieces pieces = {};      // of the receive buffer
  };
  struct Hello;
  // What this rank has of another one.
  struct Peer {
    ForeignMemory memory;
    void* flags = nullptr;
    uint32_t invited = 1, announced = 1;  // the last numbers; 1 was written when they met
    uint32_t awaited = 1;                 // the last number that the arrivals were held back for
    std::vector<int64_t> slots;           // of its messages to this rank, that graphs gave back
    int64_t used = 0;                     // how many of them graphs have had
    int64_t slot = 0;                     // of the last transfer that a graph keeps
    std::vector<Letter> arrivals;         // of messages that are copied, for when the last of their transfer is
    std::optional<c10::cuda::CUDAStream> copies;
    Moment before, copied;                // of the graph that is made: of the transfers before this one, and of this one
  };

  IpcLink(Communicator& host, at::Device gpu);
  void reach(const std::vector<Hello>& ranks);
  void check_flags() const;
  Letter invite(const Id& id, Incoming& message, Flags::Batch& free);
  void read(int from, const Letter& letter);
  void push(int to, Outgoing& message, const Letter& invitation);
  void announce(int to, const c10::cuda::CUDAStream& stream, bool kept);
  void push_kept();
  int64_t slot_from(int peer);
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
  std::deque<std::pair<Id, std::shared_ptr<Outgoing>>> kept_;  // not pushed yet, in order
  uint64_t graph_ = 0;                                // the one that is made, or was last
  int64_t posted_ = 0, pushed_ = 0;                   // the last transfers that it keeps
  std::map<Id, Letter> invitations_;                  // nothing to send yet
  std::map<Id, std::shared_ptr<Incoming>> receives_;  // no stream waits for them yet
};

}  // namespace ringcheck
