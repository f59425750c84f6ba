// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/ledger/ledger.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace ringcheck {
namespace {

// Of what goes round the communicators nobody knows.
bool never_waited_for(const Transferred& message) {
  return message.way == Transferred::Way::kCommunicator && !message.waited_for;
}

}  // namespace

Instant Ledger::now() const {
  if (!has_streams(device_) || !phase_) return {host_seconds(), {}};
  return {Seconds::kUnknown, Moment::timed(device_)};
}

void Ledger::begin(Phase phase) {
  if (!recording_) return;
  Instant& beginning = beginnings_[static_cast<int>(phase)];
  if (beginning.moment) settle();  // what an earlier pass left counts from that one's beginning
  phase_ = phase;
  beginning = {host_seconds(), Moment::timed(device_)};
  if (phase == Phase::kForward) held_before_ = memory_->total().now;
  memory_->take_peak();
  stage_ = Stage::kPrepare;
}

void Ledger::end() {
  if (phase_) {
    go_over_to(stage_);
    stock_of_phase().after = memory_->total().now - held_before_;
    endings_[static_cast<int>(*phase_)] = Moment::now(device_);
  }
  phase_.reset();
}

void Ledger::go_over_to(Stage stage) {
  int64_t& most = stock_of_phase().peak(stage_);
  most = std::max(most, memory_->take_peak() - held_before_);
  stage_ = stage;
}

void Ledger::take_stock() {
  if (!phase_) return;
  int64_t& most = stock_of_phase().attending;
  most = std::max(most, memory_->total().now - held_before_);
  go_over_to(Stage::kAttend);
}

void Ledger::finishing() {
  if (phase_) go_over_to(Stage::kFinish);
}

bool Ledger::settled(Phase phase) const { return endings_[static_cast<int>(phase)].passed(); }

void Ledger::settle(Phase phase, Instant& instant) const {
  const Instant& beginning = beginnings_[static_cast<int>(phase)];
  if (!beginning.moment || !instant.moment || !instant.moment.passed()) return;
  instant = {beginning.seconds + instant.moment.since(beginning.moment), {}};
}

void Ledger::settle() {
  const auto both = [&](auto& events) {
    for (auto& event : events) {
      settle(event.phase, event.begin);
      settle(event.phase, event.end);
    }
  };
  both(attended_);
  both(transfers_);
  for (Merged& event : merged_) settle(event.phase, event.at);
}

void Ledger::attended(Attended event) {
  if (!phase_) return;
  {
    const std::lock_guard lock(mutex_);
    attended_.push_back(std::move(event));
  }
  go_over_to(Stage::kCombine);
}

void Ledger::merged() {
  if (phase_) merged_.push_back({*phase_, now()});
}

std::optional<size_t> Ledger::transferred(Transferred::Direction direction,
                                          const Operation& operation, int64_t bytes,
                                          const Instant& begin) {
  if (bytes == 0) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (direction == Transferred::Direction::kSent) traffic_.send(operation.peer, bytes);
  else traffic_.receive(operation.peer, bytes);
  if (!phase_) return std::nullopt;
  transfers_.push_back({*phase_, direction, operation, bytes, begin, {Seconds::kUnknown, {}},
                        static_cast<int64_t>(attended_.size())});
  return transfers_.size() - 1;
}

void Ledger::bypassed(Transferred::Direction direction, const Operation& operation, int64_t bytes) {
  const std::optional<size_t> transfer = transferred(direction, operation, bytes);
  complete(transfer);
  if (!transfer) return;
  const std::lock_guard lock(mutex_);
  transfers_[*transfer].way = Transferred::Way::kBypass;
}

void Ledger::waits_for(std::optional<size_t> transfer) {
  if (!transfer) return;
  const std::lock_guard lock(mutex_);
  std::optional<int64_t>& waited_for = transfers_[*transfer].waited_for;
  if (!waited_for) waited_for = static_cast<int64_t>(attended_.size());
}

void Ledger::complete(std::optional<size_t> transfer) {
  if (!transfer) return;
  const Instant end = now();
  const std::lock_guard lock(mutex_);
  transfers_[*transfer].end = end;
}

void Ledger::complete(std::optional<size_t> transfer, const Instant& begin, const Instant& end) {
  if (!transfer) return;
  const std::lock_guard lock(mutex_);
  transfers_[*transfer].begin = begin;
  transfers_[*transfer].end = end;
}

void Ledger::restart() {
  if (phase_) throw std::logic_error("a ledger restarts between passes, not within one");
  attended_.clear();
  transfers_.clear();
  merged_.clear();
  beginnings_[0] = beginnings_[1] = {};
  stocks_[0] = stocks_[1] = {};
  held_before_ = 0;
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
    total.computed += event.computed;
    ++total.steps;
  }
  for (const Transferred& event : transfers_) {
    if (event.phase != phase) continue;
    const bool sent = event.direction == Transferred::Direction::kSent;
    (sent ? total.bytes_sent : total.bytes_received) += event.bytes;
    total.messages += sent;
    total.unwaited += never_waited_for(event);
  }
  total.merges = std::ranges::count(merged_, phase, &Merged::phase);
  total.overlapped = overlapped(phase);
  return total;
}

std::vector<int64_t> Ledger::pairs_by_head(Phase phase, int64_t heads) const {
  std::vector<int64_t> pairs(heads);
  for (const Attended& event : attended_) {
    if (event.phase != phase) continue;
    const auto& [begin, count] = event.heads;
    for (int64_t head = std::max<int64_t>(0, begin); head < std::min(heads, begin + count); ++head)
      pairs[head] += event.pairs / count;
  }
  return pairs;
}

std::vector<Operation> Ledger::unwaited(Phase phase) const {
  std::set<std::pair<std::string_view, int>> operations;
  for (const Transferred& event : transfers_)
    if (event.phase == phase && never_waited_for(event))
      operations.emplace(event.operation.name, event.operation.step);
  std::vector<Operation> list;
  for (const auto& [name, step] : operations) list.push_back({name.data(), step});
  return list;
}

std::optional<int64_t> Ledger::overlapped(Phase phase) const {
  const auto comes = [&](const Transferred& message) {
    return message.phase == phase && message.direction == Transferred::Direction::kReceived;
  };
  if (std::ranges::any_of(transfers_, [&](const Transferred& message) {
        return comes(message) && !message.waited_for;
      }))
    return std::nullopt;
  int64_t blocks = 0;
  for (int64_t block = 0; block < static_cast<int64_t>(attended_.size()); ++block)
    blocks += attended_[block].phase == phase && std::ranges::any_of(transfers_, [&](const Transferred& message) {
                return comes(message) && message.posted <= block && block < *message.waited_for;
              });
  return blocks;
}

Seconds Ledger::seconds(Phase phase) const {
  std::vector<Stretch> attention, messages;
  const auto settled = [&](Instant begin, Instant end) -> Stretch {
    settle(phase, begin);
    settle(phase, end);
    return {begin, end};
  };
  for (const Attended& event : attended_)
    if (event.phase == phase) attention.push_back(settled(event.begin, event.end));
  for (const Transferred& event : transfers_)
    if (event.phase == phase && event.direction == Transferred::Direction::kReceived)
      messages.push_back(settled(event.begin, event.end));
  return seconds_of(attention, messages);
}

Traffic Ledger::traffic() const {
  const std::lock_guard lock(mutex_);
  return traffic_;
}

double Ledger::host_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - origin_).count();
}

}  // namespace ringcheck
