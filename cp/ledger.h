// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cp/kv_block.h"
#include "cp/memory.h"

namespace ringcheck {

enum class Phase { kForward, kBackward };

// What a rank is doing: an operation has a name, a step of the rotation and, where it
// communicates, a peer (world rank).
struct Operation {
  const char* name = "start";
  int step = -1;
  int peer = -1;
};

struct Attended {
  Phase phase;
  Positions queries, keys;
  HeadRange heads;
  int64_t pairs = 0;  // visible (query, key) pairs times batch times query heads
  int64_t flops = 0;  // 2(D + Dv) a pair forward, 6D + 4Dv backward
  double begin = 0, end = 0;
};

struct Transferred {
  enum class Direction { kSent, kReceived };
  Phase phase;
  Direction direction;
  Operation operation;
  int64_t bytes = 0;
  double begin = 0, end = 0;  // posted, seen complete
};

// Sums over the events of one phase.
struct Counters {
  int64_t bytes_sent = 0, bytes_received = 0;
  int64_t messages = 0;  // non-empty payloads sent to another rank
  int64_t pairs = 0, flops = 0, steps = 0, merges = 0;
  bool operator==(const Counters&) const = default;
};

// What happened on one rank, as events. Counters are sums over it. Times are seconds since the
// ledger was made. Nothing is recorded outside a phase, so verdicts and agreements do not count.
class Ledger {
 public:
  class Scope;  // records one phase for as long as it lives

  void attended(Attended event);
  void merged();
  // Returns the index to complete() once the transfer is known to have happened.
  std::optional<size_t> transferred(Transferred::Direction direction, const Operation& operation,
                                    int64_t bytes);
  void complete(std::optional<size_t> transfer);

  // Forgets all events and all memory, so that what follows is counted alone. Outside a phase.
  void restart();

  void enter(const Operation& operation);  // tells the observer, if any
  void observe(std::function<void(const Operation&)> observer) { observer_ = std::move(observer); }
  const Operation& current() const { return current_; }

  std::optional<Phase> phase() const { return phase_; }
  const std::vector<Attended>& attentions() const { return attended_; }
  const std::vector<Transferred>& transfers() const { return transfers_; }
  Counters sum(Phase phase) const;

  const std::shared_ptr<MemoryMeter>& memory() const { return memory_; }
  double now() const;

 private:
  std::chrono::steady_clock::time_point origin_ = std::chrono::steady_clock::now();
  std::optional<Phase> phase_;
  std::vector<Attended> attended_;
  std::vector<Transferred> transfers_;
  int64_t merges_[2] = {0, 0};
  Operation current_;
  std::function<void(const Operation&)> observer_;
  std::shared_ptr<MemoryMeter> memory_ = std::make_shared<MemoryMeter>();
};

class Ledger::Scope {
 public:
  Scope(Ledger& ledger, Phase phase) : ledger_(ledger) { ledger_.phase_ = phase; }
  ~Scope() { ledger_.phase_.reset(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Ledger& ledger_;
};

}  // namespace ringcheck
