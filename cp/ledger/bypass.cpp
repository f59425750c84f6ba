// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/ledger/bypass.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace ringcheck {
namespace {

std::mutex mutex;               // of the list
std::vector<Ledger*> witnessed;  // of all ranks of this process
std::vector<int> answering;      // their world ranks, and those of the ranks of other processes
std::atomic<int> witnesses = 0;
thread_local Ledger* own = nullptr;
thread_local int depth = 0;

}  // namespace

Witnessed::Witnessed(Ledger& ledger, std::vector<int> world_ranks) {
  const std::lock_guard lock(mutex);
  answering = std::move(world_ranks);
  own = &ledger;
  witnessed.push_back(&ledger);
  ++witnesses;
}

Witnessed::~Witnessed() {
  const std::lock_guard lock(mutex);
  witnessed.erase(std::ranges::find(witnessed, own));
  own = nullptr;
  --witnesses;
}

Booked::Booked() { ++depth; }
Booked::~Booked() { --depth; }

BypassingCall::BypassingCall(const char* name)
    : name_(name), counts_(depth == 0 && witnesses > 0) {}

int BypassingCall::world_rank(int rank, int group_size) {
  const std::lock_guard lock(mutex);
  const bool known = group_size == std::ssize(answering) && rank >= 0 && rank < group_size;
  return known ? answering[static_cast<size_t>(rank)] : -1;
}

void BypassingCall::sends(int peer, int64_t bytes) const {
  tell(Transferred::Direction::kSent, peer, bytes);
}

void BypassingCall::receives(int peer, int64_t bytes) const {
  tell(Transferred::Direction::kReceived, peer, bytes);
}

void BypassingCall::tell(Transferred::Direction direction, int peer, int64_t bytes) const {
  if (!counts_ || bytes <= 0) return;
  const std::lock_guard lock(mutex);
  Ledger* ledger = own != nullptr ? own : witnessed.size() == 1 ? witnessed.front() : nullptr;
  if (ledger == nullptr) return;
  ledger->bypassed(direction, {name_, -1, peer}, bytes);
}

}  // namespace ringcheck
