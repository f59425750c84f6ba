// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/ledger.h"

#include <stdexcept>

namespace ringcheck {

void Ledger::attended(Attended event) {
  if (phase_) attended_.push_back(std::move(event));
}

void Ledger::merged() {
  if (phase_) ++merges_[static_cast<int>(*phase_)];
}

std::optional<size_t> Ledger::transferred(Transferred::Direction direction,
                                          const Operation& operation, int64_t bytes) {
  if (!phase_ || bytes == 0) return std::nullopt;
  transfers_.push_back({*phase_, direction, operation, bytes, now(), 0});
  return transfers_.size() - 1;
}

void Ledger::complete(std::optional<size_t> transfer) {
  if (transfer) transfers_[*transfer].end = now();
}

void Ledger::restart() {
  if (phase_) throw std::logic_error("a ledger restarts between passes, not within one");
  attended_.clear();
  transfers_.clear();
  merges_[0] = merges_[1] = 0;
  memory_ = std::make_shared<MemoryMeter>();
}

void Ledger::enter(const Operation& operation) {
  current_ = operation;
  if (observer_) observer_(operation);
}

Counters Ledger::sum(Phase phase) const {
  Counters total;
  for (const Attended& event : attended_) {
    if (event.phase != phase) continue;
    total.pairs += event.pairs;
    total.flops += event.flops;
    ++total.steps;
  }
  for (const Transferred& event : transfers_) {
    if (event.phase != phase) continue;
    const bool sent = event.direction == Transferred::Direction::kSent;
    (sent ? total.bytes_sent : total.bytes_received) += event.bytes;
    total.messages += sent;
  }
  total.merges = merges_[static_cast<int>(phase)];
  return total;
}

double Ledger::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - origin_).count();
}

}  // namespace ringcheck
