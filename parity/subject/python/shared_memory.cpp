// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/python/shared_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

// All of it, as long as it was when this was made.
struct SharedMemory::Mapping {
  Mapping(int descriptor, int64_t size) : bytes(size) {
    void* mapped = ::mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    check(mapped != MAP_FAILED, "shared memory");
    data = static_cast<std::byte*>(mapped);
  }
  ~Mapping() { ::munmap(data, static_cast<size_t>(bytes)); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* data = nullptr;
  const int64_t bytes;
};

SharedMemory::SharedMemory() : descriptor_(::memfd_create("ringcheck", MFD_CLOEXEC)) {
  check(descriptor_ >= 0, "shared memory");
}

SharedMemory::~SharedMemory() { ::close(descriptor_); }

void SharedMemory::map(int64_t bytes) {
  if (mapping_ && mapping_->bytes >= bytes) return;
  mapping_ = std::make_shared<Mapping>(descriptor_, size_of(descriptor_));
}

std::byte* SharedMemory::grown_to(int64_t bytes) {
  if (bytes > size_of(descriptor_)) check(::ftruncate(descriptor_, bytes) == 0, "shared memory");
  map(bytes);
  return mapping_->data;
}

int64_t SharedMemory::free_from() {
  std::erase_if(lent_, [](const Lent& one) { return one.bytes.expired(); });
  int64_t end = 0;
  for (const Lent& one : lent_) end = std::max(end, one.end);
  return end;
}

std::shared_ptr<std::byte> SharedMemory::lent(int64_t offset, int64_t bytes) {
  const int64_t there = size_of(descriptor_), end = offset + bytes;
  if (end > there)
    throw std::runtime_error("it says that its answer has " + std::to_string(end) + " bytes, of which " +
                             std::to_string(there) + " are there");
  map(end);
  // An owner of its own, so that it is known when these bytes are free.
  std::shared_ptr<std::byte> found(mapping_->data + offset, [mapping = mapping_](std::byte*) {});
  lent_.push_back({end, found});
  return found;
}

}  // namespace ringcheck::parity
