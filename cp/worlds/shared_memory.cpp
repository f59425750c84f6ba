// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace ringcheck {
namespace {

// Of this process and this call: process ids come again, times do not.
std::string new_name() {
  static std::atomic<int> made = 0;
  return "/ringcheck-" + std::to_string(::getpid()) + "-" + std::to_string(made++) + "-" +
         std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
}

[[noreturn]] void refuse(const std::string& name, const char* what) {
  throw std::runtime_error("the shared memory /dev/shm" + name + " cannot be " + what + ": " +
                           std::strerror(errno));
}

}  // namespace

SharedMemory SharedMemory::create(size_t bytes) { return {new_name(), bytes, O_CREAT | O_EXCL}; }
SharedMemory SharedMemory::open(const std::string& name, size_t bytes) { return {name, bytes, 0}; }

SharedMemory::SharedMemory(std::string name, size_t bytes, int flags)
    : name_(std::move(name)), bytes_(bytes) {
  const int file = ::shm_open(name_.c_str(), O_RDWR | flags, 0600);
  if (file < 0) refuse(name_, "opened");
  named_ = flags != 0;
  // Space is taken now: a full /dev/shm would else be a SIGBUS later.
  const int full = named_ ? ::posix_fallocate(file, 0, static_cast<off_t>(bytes)) : 0;
  void* data = full == 0 ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                         : MAP_FAILED;
  const int why = full != 0 ? full : errno;
  ::close(file);
  if (data == MAP_FAILED) {
    forget_name();
    errno = why;
    refuse(name_, "mapped");
  }
  data_ = data;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : name_(std::move(other.name_)),
      bytes_(other.bytes_),
      data_(std::exchange(other.data_, nullptr)),
      named_(std::exchange(other.named_, false)) {}

SharedMemory::~SharedMemory() {
  forget_name();
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

void SharedMemory::forget_name() {
  if (std::exchange(named_, false)) ::shm_unlink(name_.c_str());
}

}  // namespace ringcheck
