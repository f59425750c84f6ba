// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/status_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace ringcheck::cli {
namespace {

static_assert(std::is_trivially_copyable_v<RankStatus>);

// The record of the rank that runs on this thread, for the signal handler.
thread_local RankStatus* own_record = nullptr;

// That of a process that is one rank, and what it still does.
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

[[noreturn]] void fail(const std::string& path) {
  throw std::runtime_error("status file '" + path + "': " + std::strerror(errno));
}

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

// What the rank said of its end before stands.
void on_end(int signal) {
  if (process_record != nullptr && process_record->state == RankState::kRunning) {
    process_record->signal = signal;
    process_record->when = monotonic_nanoseconds();
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

StatusFile StatusFile::map(const std::string& path, int descriptor, int ranks) {
  void* memory = ::mmap(nullptr, ranks * sizeof(RankStatus), PROT_READ | PROT_WRITE, MAP_SHARED,
                        descriptor, 0);
  ::close(descriptor);
  if (memory == MAP_FAILED)
    fail(path);
  return {ranks, static_cast<RankStatus*>(memory)};
}

StatusFile StatusFile::create(const std::string& path, int ranks) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0)
    fail(path);
  // On a full disk a file that only looks so long kills whoever writes into it.
  errno = ::posix_fallocate(descriptor, 0, static_cast<off_t>(ranks * sizeof(RankStatus)));
  if (errno != 0)
    fail(path);
  StatusFile file = map(path, descriptor, ranks);
  for (int rank = 0; rank < ranks; ++rank)
    file.records_[rank] = RankStatus{};
  return file;
}

StatusFile StatusFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat facts {};
  if (descriptor < 0 || ::fstat(descriptor, &facts) != 0)
    fail(path);
  return map(path, descriptor, static_cast<int>(facts.st_size / sizeof(RankStatus)));
}

StatusFile::StatusFile(StatusFile&& other) noexcept
    : ranks_(other.ranks_), records_(std::exchange(other.records_, nullptr)) {}

StatusFile::~StatusFile() {
  if (process_record >= records_ && process_record < records_ + ranks_) process_record = nullptr;
  if (records_ != nullptr)
    ::munmap(records_, ranks_ * sizeof(RankStatus));
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
  RankStatus& record = at(rank);
  copy(record.note, note.c_str());
  record.state = state;
  touch(record);
}

void StatusFile::note_signals() const {
  for (const int signal : kDeadly) handle(signal, on_signal);
}

void StatusFile::note_end(int rank, void (*then)()) const {
  process_record = &at(rank);
  before_end = then;
  for (const int signal : kDeadly) handle(signal, on_end);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal)) handle(signal, on_end);
}

}  // namespace ringcheck::cli
