// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cp/ledger/memory.h"
#include "cp/device/moment.h"
#include "cp/layout/positions.h"
#include "cp/ledger/overlap.h"
#include "cp/ledger/traffic.h"
#include "cp/operation.h"

namespace ringcheck {

enum class Phase { kForward, kBackward };

// A point in time on one rank, in seconds since its ledger was made. On a device it is NaN until
// the device has passed it and the ledger has asked: nobody waits for a time.
struct Instant {
  double seconds = 0;
  Moment moment;  // what to ask; none where the time is known
  operator double() const { return seconds; }
};

struct Attended {
  Phase phase;
  Positions queries, keys;
  HeadRange heads;
  int64_t pairs = 0;  // visible (query, key) pairs times batch times query heads
  int64_t flops = 0;  // 2(D + Dv) a pair forward, 6D + 4Dv backward
  Instant begin, end;
  int64_t computed = 0;  // pairs that the kernel says it computed, hidden ones included
};

struct Transferred {
  enum class Direction { kSent, kReceived };
  // By a communicator, which sees the rank wait, or round them all: then nobody knows of a wait.
  enum class Way { kCommunicator, kBypass };
  Phase phase;
  Direction direction;
  Operation operation;
  int64_t bytes = 0;
  Instant begin, end;  // on the CPU posted and seen complete; on a device at work
  // How many blocks the rank had attended when it posted the message, and when it waited for it: by
  // the host's order, on every device. None: nobody was seen to wait.
  int64_t posted = 0;
  std::optional<int64_t> waited_for = std::nullopt;
  Way way = Way::kCommunicator;
};

struct Merged {
  Phase phase;
  Instant at;  // behind the merge
};

// Sums over the events of one phase.
struct Counters {
  int64_t bytes_sent = 0, bytes_received = 0;
  int64_t messages = 0;  // non-empty payloads sent to another rank
  int64_t pairs = 0, flops = 0, steps = 0, merges = 0;  // steps: blocks attended
  int64_t computed = 0;  // pairs that the kernels say they computed
  // Blocks attended between the posting of a message to the rank and the wait for it; none where one
  // came for which nobody was seen to wait.
  std::optional<int64_t> overlapped = 0;
  int64_t unwaited = 0;  // messages by communicators for which the rank never waited
  bool operator==(const Counters&) const = default;
};

// A pass, as far as memory goes: before the first block, while a kernel attends one, between the
// blocks, and after the strategy is through.
enum class Stage { kPrepare, kAttend, kCombine, kFinish };
inline constexpr size_t kStages = 4;

// Bytes that a rank holds beyond those that it held when the last forward pass began.
struct Stock {
  int64_t attending = 0;  // the most when a block was about to be attended
  int64_t after = 0;      // when the pass was over
  std::array<int64_t, kStages> peaks = {};  // the most at a time, by stage
  int64_t& peak(Stage stage) { return peaks[static_cast<size_t>(stage)]; }
  int64_t peak(Stage stage) const { return peaks[static_cast<size_t>(stage)]; }
  bool operator==(const Stock&) const = default;
};

// What happened on one rank, as events. Counters and seconds are sums over it. No event is recorded
// outside a phase; the sums of all traffic hold every message, whenever it went and by which way.
//
// Times on a device are by its own clock, counted from when it came to the beginning of the phase.
// That beginning is put where the host had queued it, which is up to the device's backlog too
// early; so times of one phase compare exactly, and with another phase or the host only roughly.
class Ledger {
 public:
  class Scope;  // records one phase for as long as it lives

  // Where the rank computes: whose clock its instants are read from.
  void compute_on(at::Device device) { device_ = device; }
  Instant now() const;  // behind all that the device's current stream holds
  void settle();        // reads every time that the device has come to
  bool settled(Phase phase) const;  // the device is through with the last one of this kind

  // The rank is about to attend a block: what it holds is what its strategy holds.
  void take_stock();
  void attended(Attended event);
  void merged();
  // The strategy is through: what follows makes its results those of the pass.
  void finishing();
  // Returns the index to complete() once the transfer is known to have happened.
  std::optional<size_t> transferred(Transferred::Direction direction, const Operation& operation,
                                    int64_t bytes, const Instant& begin);
  std::optional<size_t> transferred(Transferred::Direction direction, const Operation& operation,
                                    int64_t bytes) {
    return transferred(direction, operation, bytes, now());
  }
  // A message went round the communicators, and is under way no more, as far as anybody knows.
  void bypassed(Transferred::Direction direction, const Operation& operation, int64_t bytes);
  // The rank waits for it, or relies on it, from here on.
  void waits_for(std::optional<size_t> transfer);
  void complete(std::optional<size_t> transfer);
  // For transfers that a device makes: when it was at work on them.
  void complete(std::optional<size_t> transfer, const Instant& begin, const Instant& end);

  // Records no events from now on, or again: what recording costs is measured against this.
  // Returns how it was.
  bool record(bool on) { return std::exchange(recording_, on); }

  // Forgets all events and all memory, so that what follows is counted alone; the sums of all
  // traffic go on. Outside a phase.
  void restart();

  void enter(const Operation& operation);  // tells the observer, if any
  void observe(std::function<void(const Operation&)> observer) { observer_ = std::move(observer); }
  const Operation& current() const { return current_; }

  std::optional<Phase> phase() const { return phase_; }
  const std::vector<Attended>& attentions() const { return attended_; }
  const std::vector<Transferred>& transfers() const { return transfers_; }
  const std::vector<Merged>& merges() const { return merged_; }
  Counters sum(Phase phase) const;
  // The pairs of each of so many key-value heads of the model; what was attended of heads beyond them
  // is left out.
  std::vector<int64_t> pairs_by_head(Phase phase, int64_t heads) const;
  // The operations by communicators with a message for which the rank never waited, each once.
  std::vector<Operation> unwaited(Phase phase) const;
  Seconds seconds(Phase phase) const;  // as far as times are settled
  // Everything since the ledger was made, outside the phases, too.
  Traffic traffic() const;
  const Stock& stock(Phase phase) const { return stocks_[static_cast<int>(phase)]; }

  const std::shared_ptr<MemoryMeter>& memory() const { return memory_; }
  // When the ledger was made, and the seconds since then.
  std::chrono::steady_clock::time_point origin() const { return origin_; }
  double host_seconds() const;

 private:
  void begin(Phase phase);
  void end();
  void go_over_to(Stage stage);
  Stock& stock_of_phase() { return stocks_[static_cast<int>(*phase_)]; }
  void settle(Phase phase, Instant& instant) const;
  std::optional<int64_t> overlapped(Phase phase) const;

  std::chrono::steady_clock::time_point origin_ = std::chrono::steady_clock::now();
  at::Device device_ = at::kCPU;
  bool recording_ = true;
  Instant beginnings_[2];  // of the phases: when queued, by the host's clock
  Moment endings_[2];
  std::optional<Phase> phase_;
  std::vector<Attended> attended_;
  std::vector<Transferred> transfers_;
  std::vector<Merged> merged_;
  mutable std::mutex mutex_;  // of events and traffic: other threads of the rank may send
  Traffic traffic_;
  int64_t held_before_ = 0;  // when the last forward pass began
  Stock stocks_[2];
  Stage stage_ = Stage::kPrepare;
  Operation current_;
  std::function<void(const Operation&)> observer_;
  std::shared_ptr<MemoryMeter> memory_ = std::make_shared<MemoryMeter>();
};

class Ledger::Scope {
 public:
  Scope(Ledger& ledger, Phase phase) : ledger_(ledger) { ledger_.begin(phase); }
  ~Scope() { ledger_.end(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Ledger& ledger_;
};

}  // namespace ringcheck
