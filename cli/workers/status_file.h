// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/process/mapped_file.h"
#include "cp/ledger/ledger.h"

namespace ringcheck::cli {

enum class RankState : int32_t {
  kIdle,  // not started
  kRunning,
  kDone,      // with all of its cases
  kSignaled,  // died of a signal that could be caught; `signal` says which
  kThrew,     // `note` says what
  kTimedOut,  // the same, and it was a wait that passed its deadline
  kInterrupted,  // somebody ended it: SIGINT, SIGTERM or SIGHUP, in `signal`; `gone` says who was
};

// What one rank is doing. Plain memory of fixed size, shared between processes.
struct RankStatus {
  int32_t pid = 0;
  RankState state = RankState::kIdle;
  int32_t test = -1;  // which of its cases
  int32_t step = -1, peer = -1;
  int32_t signal = 0;
  int32_t gone = -1;      // a rank whose process had ended without a word when this one was interrupted
  uint64_t progress = 0;  // how often it said anything
  uint64_t when = 0;      // monotonic nanoseconds of the last time
  char operation[48] = {};
  char note[400] = {};
};

// A memory-mapped record per rank: workers write, the supervisor reads, also when the writer is
// dead or stopped. Each record has one writer at a time.
class StatusFile {
 public:
  static StatusFile create(const std::string& path, int ranks);
  static StatusFile open(const std::string& path);  // throws std::runtime_error
  StatusFile(StatusFile&&) = default;
  StatusFile& operator=(StatusFile&&) = delete;
  ~StatusFile();

  int ranks() const { return ranks_; }
  RankStatus read(int rank) const;

  // A case of so many ranks begins; the others have no part in it.
  void begin_world(int ranks, int test) const;
  // The rank begins a case, or is about to do something.
  void begin(int rank, int test) const;
  void enter(int rank, const Operation& operation) const;
  void done(int rank) const;
  // It threw or timed out. The first word on a case stands: what ends it may make other threads of it fail.
  void failed(int rank, RankState state, const std::string& note) const;

  // From now on a signal that kills this process is noted in the record of the rank whose thread
  // it hit.
  void note_signals() const;
  // The same in a process that is this rank, on whatever thread, and of SIGINT, SIGTERM and SIGHUP
  // as well. `then` is called before the signal does what it would have done: system calls only.
  void note_end(int rank, void (*then)()) const;

 private:
  explicit StatusFile(MappedFile file);
  RankStatus& at(int rank) const;
  void touch(RankStatus& record) const;

  MappedFile file_;
  int ranks_ = 0;
  RankStatus* records_ = nullptr;
};

}  // namespace ringcheck::cli
