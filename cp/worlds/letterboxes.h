// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "cp/worlds/shared_memory.h"

namespace ringcheck {

// A box in memory that two processes share and that was zero at first: one puts letters in, the other
// takes them out, in order, and neither waits for the other.
template <class Letter, uint64_t kLetters = 32>
class Letterbox {
 public:
  bool put(const Letter& letter) {  // false where it is full
    const uint64_t put = put_.load(std::memory_order_relaxed);
    if (put - taken_.load(std::memory_order_acquire) == kLetters) return false;
    letters_[put % kLetters] = letter;
    put_.store(put + 1, std::memory_order_release);
    return true;
  }
  std::optional<Letter> take() {
    const uint64_t taken = taken_.load(std::memory_order_relaxed);
    if (taken == put_.load(std::memory_order_acquire)) return std::nullopt;
    const Letter letter = letters_[taken % kLetters];
    taken_.store(taken + 1, std::memory_order_release);
    return letter;
  }

 private:
  static_assert(std::is_trivially_copyable_v<Letter>);
  static_assert(std::atomic<uint64_t>::is_always_lock_free);  // else it would lock within one process
  alignas(64) std::atomic<uint64_t> put_;
  alignas(64) std::atomic<uint64_t> taken_;
  alignas(64) Letter letters_[kLetters];
};

// The letters that the ranks of one host write each other, as one of them sees them. What does not
// fit into a box is kept until it does, so nobody waits here.
template <class Letter>
class Letterboxes {
 public:
  static Letterboxes create(int ranks) { return {SharedMemory::create(bytes(ranks)), 0, ranks}; }
  static Letterboxes open(const std::string& name, int rank, int ranks) {
    return {SharedMemory::open(name, bytes(ranks)), rank, ranks};
  }
  const std::string& name() const { return memory_.name(); }
  void forget_name() { memory_.forget_name(); }  // everybody has opened it

  void send(int to, const Letter& letter) {
    kept_[to].push_back(letter);
    send_kept(to);
  }
  void send_kept() {
    for (int to = 0; to < ranks_; ++to) send_kept(to);
  }
  // Whether every letter is in its box.
  bool all_sent() const {
    return std::ranges::all_of(kept_, [](const std::deque<Letter>& kept) { return kept.empty(); });
  }
  std::optional<Letter> receive(int from) { return box(from, rank_).take(); }

 private:
  using Box = Letterbox<Letter>;
  static size_t bytes(int ranks) { return sizeof(Box) * static_cast<size_t>(ranks * ranks); }

  Letterboxes(SharedMemory memory, int rank, int ranks)
      : memory_(std::move(memory)), rank_(rank), ranks_(ranks), kept_(ranks) {}
  Box& box(int from, int to) const {
    return std::launder(static_cast<Box*>(memory_.data()))[from * ranks_ + to];
  }
  void send_kept(int to) {
    std::deque<Letter>& kept = kept_[to];
    while (!kept.empty() && box(rank_, to).put(kept.front())) kept.pop_front();
  }

  SharedMemory memory_;
  int rank_, ranks_;
  std::vector<std::deque<Letter>> kept_;  // for each rank, in order
};

}  // namespace ringcheck
