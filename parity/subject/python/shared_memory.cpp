// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/python/shared_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace ringcheck::parity {
namespace {

void check(bool good, const char* what) {
  if (!good) throw std::system_error(errno, std::generic_category(), what);
}

int64_t size_of(int descriptor) {
  struct stat state{};
  check(::fstat(descriptor, &state) == 0, "shared memory");
  return state.st_size;
}

}  // namespace

SharedMemory::SharedMemory() : descriptor_(::memfd_create("ringcheck", MFD_CLOEXEC)) {
  check(descriptor_ >= 0, "shared memory");
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, static_cast<size_t>(bytes_));
  ::close(descriptor_);
}

void SharedMemory::map(int64_t bytes) {
  if (bytes == bytes_) return;
  if (data_ != nullptr) ::munmap(data_, static_cast<size_t>(bytes_));
  data_ = nullptr, bytes_ = 0;
  void* mapped = ::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  check(mapped != MAP_FAILED, "shared memory");
  data_ = static_cast<std::byte*>(mapped), bytes_ = bytes;
}

std::byte* SharedMemory::grown_to(int64_t bytes) {
  if (bytes > size_of(descriptor_)) check(::ftruncate(descriptor_, bytes) == 0, "shared memory");
  if (bytes > bytes_) map(bytes);
  return data_;
}

const std::byte* SharedMemory::holding(int64_t bytes) {
  const int64_t there = size_of(descriptor_);
  if (bytes > there)
    throw std::runtime_error("it says that its answer has " + std::to_string(bytes) + " bytes, of which " +
                             std::to_string(there) + " are there");
  if (bytes > bytes_) map(there);
  return data_;
}

}  // namespace ringcheck::parity
