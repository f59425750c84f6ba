// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cp/ledger/ledger.h"

namespace ringcheck {

// A posted transfer. wait() makes its result visible to the caller. Dropping it without waiting
// is safe and never blocks, but what was received is then undefined.
class [[nodiscard]] Pending {
 public:
  Pending() = default;
  explicit Pending(std::function<void()> wait) : wait_(std::move(wait)) {}
  void wait() {
    if (auto wait = std::exchange(wait_, nullptr)) wait();
  }

 private:
  std::function<void()> wait_;
};

// A tensor for, or from, a rank of the group: contiguous, or [n, m, ...] in n m pieces of which each is
// contiguous, at both of its ends, where they may lie in different ways.
struct Message {
  at::Tensor data;
  int peer = 0;
  bool in_pieces = false;
};

// What an operation is called in the ledger, in errors and in the status of a hung rank.
struct Label {
  const char* name = "";
  int step = -1;
};

// Messages that are posted at once, and the collective that they are, if any: a transport may then
// use one of its own in their place.
enum class Pattern { kMessages, kAllGather, kAllToAll };
struct Request {
  std::vector<Message> sends, receives;
  Label label;
  Pattern pattern = Pattern::kMessages;
};

// The ranks that work together, as one of them sees them.
struct Group {
  static Group everybody(int size, int rank);  // all ranks of a world; its id is 0

  std::vector<int> world_ranks;  // of every rank of the group
  int rank = 0;                  // this one, in the group
  int64_t id = 0;                // equal on all its ranks; no two groups of one rank share it
  at::Device device = at::kCPU;  // where this rank computes
  std::shared_ptr<int64_t> last_id = std::make_shared<int64_t>(0);  // of all groups of this rank
};

// The ranks that share one sequence. All ranks call the same operations in the same order. Every
// operation is made of messages, and the ledger gets a line for each that goes to or comes from
// another rank. Every wait ends at the deadline with a Timeout; the ledger's current operation
// says what the wait was for, and whom.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return group_.rank; }
  int size() const { return static_cast<int>(group_.world_ranks.size()); }
  at::Device device() const { return group_.device; }
  int world_rank(int rank) const { return group_.world_ranks.at(rank); }
  // The rank that many places further round the ring, at most once round; negative: before this one.
  int neighbour(int places) const { return (rank() + size() + places) % size(); }
  int left() const { return neighbour(-1); }
  int right() const { return neighbour(1); }
  Ledger& ledger() const { return *ledger_; }
  std::chrono::milliseconds deadline() const { return deadline_; }

  // Posts sends and receives as one operation. Messages of a pair of ranks match in the order in
  // which they are posted. A send buffer may be reused, and a receive buffer read, after wait().
  // Throws std::invalid_argument, before anything is posted, where a message, or a piece of it, is not
  // contiguous, or not here or on the CPU, or its peer no rank of the group.
  Pending transfer(std::vector<Message> sends, std::vector<Message> receives, Label label) {
    return carry({std::move(sends), std::move(receives), label});
  }

  // Send and receive are one operation: a ring of ranks that all call it cannot deadlock.
  Pending exchange(const at::Tensor& send, int to, const at::Tensor& receive, int from,
                   Label label);
  // gathered[r] becomes what rank r holds, the own one included.
  Pending all_gather(const at::Tensor& local, const std::vector<at::Tensor>& gathered,
                     Label label);
  // sends[r] goes to rank r and receives[r] comes from it; an undefined or empty tensor is no
  // message.
  Pending all_to_all(const std::vector<at::Tensor>& sends,
                     const std::vector<at::Tensor>& receives, Label label);
  // The sum over all ranks, in rank order, of their parts[rank()].
  at::Tensor reduce_scatter(const std::vector<at::Tensor>& parts, Label label);

  // A flat buffer on device() for what travels, 128-byte aligned and counted under its tag. A
  // transport may hand out memory that it knows.
  virtual at::Tensor buffer(int64_t elements, at::ScalarType dtype, MemoryTag tag);
  // One for each rank, to gather into: slices of one buffer, which a collective can fill, where
  // that keeps each of them aligned.
  std::vector<at::Tensor> buffers(int64_t elements, at::ScalarType dtype, MemoryTag tag);

  // The ranks that gave the same color, any integer, ordered by key, then by rank. Collective.
  std::unique_ptr<Communicator> split(int color, int key);

  // The largest value of all ranks: one verdict for everybody.
  int64_t agree_max(int64_t local);
  double agree_max(double local);

  // Ends a pass whose results this rank's device alone goes on with: everything posted is in the order
  // of its current stream, and may still be under way.
  virtual void hand_over() { finish(); }
  // Whether all that a pass posts is queued on this rank's device by this rank alone, so that a graph of the
  // device can hold it.
  virtual bool capturable() const { return size() == 1; }
  // Ends a pass: returns when everything posted is complete, or throws Timeout.
  virtual void finish() = 0;

  // The same transport between the ranks of `group`, as split() numbers them. Collective.
  virtual std::unique_ptr<Communicator> over(Group group) = 0;

  // Calls `delay` wherever a transfer is about to use a stream, that of the computation or that of
  // the messages: with any delay every result must be the same.
  void delay_with(std::function<void()> delay) { delay_ = std::move(delay); }

  const Group& group() const { return group_; }
  const std::shared_ptr<Ledger>& shared_ledger() const { return ledger_; }

 protected:
  Communicator(Group group, std::shared_ptr<Ledger> ledger, std::chrono::milliseconds deadline)
      : group_(std::move(group)), ledger_(std::move(ledger)), deadline_(deadline) {
    ledger_->compute_on(group_.device);
  }
  // Makes a transfer and all that its contract says: Transport, or a decorator by another one.
  virtual Pending carry(Request request) = 0;
  void delay() const {
    if (delay_) delay_();
  }

 private:
  Group group_;
  std::shared_ptr<Ledger> ledger_;
  std::chrono::milliseconds deadline_;
  std::function<void()> delay_;
};

}  // namespace ringcheck
