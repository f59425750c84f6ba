// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/status_file.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <mutex>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "cli/process/programs.h"

namespace ringcheck::cli {
namespace {

static_assert(std::is_trivially_copyable_v<RankStatus>);

// The record of the rank that runs on this thread, for the signal handler.
thread_local RankStatus* own_record = nullptr;

// Those of all ranks, where this process is one of them; which, and what it still does.
std::span<RankStatus> all_records;
RankStatus* process_record = nullptr;
void (*before_end)() = nullptr;

uint64_t monotonic_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(now.tv_nsec);
}

template <size_t size>
void copy(char (&to)[size], const char* from) {
  std::strncpy(to, from, size - 1);
  to[size - 1] = '\0';
}

constexpr const char* kWhat = "status file";

// Only stores to memory; then the signal does what it would have done.
void on_signal(int signal) {
  if (own_record != nullptr) {
    own_record->signal = signal;
    own_record->state = RankState::kSignaled;
  }
  ::raise(signal);
}

bool is_interrupt(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

// A rank whose process has ended without a word, or -1. Those of other machines say nothing at all.
int who_is_gone() {
  for (size_t rank = 0; rank < all_records.size(); ++rank)
    if (all_records[rank].state == RankState::kRunning && !is_alive(all_records[rank].pid))
      return static_cast<int>(rank);
  return -1;
}

// What the rank said of its end before stands.
void on_end(int signal) {
  if (process_record != nullptr && process_record->state == RankState::kRunning) {
    process_record->signal = signal;
    process_record->when = monotonic_nanoseconds();
    process_record->gone = who_is_gone();
    process_record->state = is_interrupt(signal) ? RankState::kInterrupted : RankState::kSignaled;
  }
  if (before_end != nullptr) before_end();
  ::raise(signal);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  ::sigaction(signal, &action, nullptr);
}

// nohup, for example, lets SIGHUP pass.
bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

constexpr int kDeadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

}  // namespace

StatusFile StatusFile::create(const std::string& path, int ranks) {
  StatusFile file(MappedFile::create(kWhat, path, ranks * sizeof(RankStatus)));
  for (int rank = 0; rank < ranks; ++rank)
    file.records_[rank] = RankStatus{};
  return file;
}

StatusFile StatusFile::open(const std::string& path) {
  MappedFile file = MappedFile::open(kWhat, path);
  if (file.bytes() < sizeof(RankStatus))
    throw std::runtime_error(std::string(kWhat) + " '" + path + "': too short for a rank");
  return StatusFile(std::move(file));
}

StatusFile::StatusFile(MappedFile file)
    : file_(std::move(file)), ranks_(static_cast<int>(file_.bytes() / sizeof(RankStatus))),
      records_(static_cast<RankStatus*>(file_.data())) {}

// What was moved from it has no memory, and is no rank's.
StatusFile::~StatusFile() {
  const bool own = file_.data() != nullptr && process_record >= records_ && process_record < records_ + ranks_;
  if (!own) return;
  process_record = nullptr;
  all_records = {};
}

RankStatus& StatusFile::at(int rank) const {
  if (rank < 0 || rank >= ranks_)
    throw std::out_of_range("rank " + std::to_string(rank) + " of " + std::to_string(ranks_));
  return records_[rank];
}

RankStatus StatusFile::read(int rank) const {
  RankStatus& record = at(rank);
  std::atomic_ref(record.progress).load(std::memory_order_acquire);
  RankStatus seen = record;  // of a process that may have died while it wrote
  seen.operation[sizeof seen.operation - 1] = seen.note[sizeof seen.note - 1] = '\0';
  return seen;
}

void StatusFile::touch(RankStatus& record) const {
  own_record = &record;
  record.when = monotonic_nanoseconds();
  std::atomic_ref(record.progress).fetch_add(1, std::memory_order_release);
}

void StatusFile::begin_world(int ranks, int test) const {
  for (int rank = ranks; rank < ranks_; ++rank) {
    at(rank).state = RankState::kIdle;
    at(rank).test = test;  // which may have a world of more ranks beside it
  }
  for (int rank = ranks; rank-- > 0;) begin(rank, test);
}

void StatusFile::begin(int rank, int test) const {
  RankStatus& record = at(rank);
  record.pid = ::getpid();
  record.test = test;
  record.state = RankState::kRunning;
  enter(rank, {"begin"});
}

void StatusFile::enter(int rank, const Operation& operation) const {
  RankStatus& record = at(rank);
  copy(record.operation, operation.name);
  record.step = operation.step;
  record.peer = operation.peer;
  touch(record);
}

void StatusFile::done(int rank) const {
  enter(rank, {"end"});
  at(rank).state = RankState::kDone;
}

void StatusFile::failed(int rank, RankState state, const std::string& note) const {
  static std::mutex saying;  // a watchdog may speak beside the thread that it watches
  const std::lock_guard lock(saying);
  RankStatus& record = at(rank);
  if (record.state == RankState::kThrew || record.state == RankState::kTimedOut) return;
  copy(record.note, note.c_str());
  record.state = state;
  touch(record);
}

void StatusFile::note_signals() const {
  for (const int signal : kDeadly) handle(signal, on_signal);
}

void StatusFile::note_end(int rank, void (*then)()) const {
  process_record = &at(rank);
  all_records = {records_, static_cast<size_t>(ranks_)};
  before_end = then;
  for (const int signal : kDeadly) handle(signal, on_end);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal)) handle(signal, on_end);
}

}  // namespace ringcheck::cli
