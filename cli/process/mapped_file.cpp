// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/process/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace ringcheck::cli {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path, int descriptor, int error) {
  if (descriptor >= 0) ::close(descriptor);
  throw std::runtime_error(what + " '" + path + "': " + std::strerror(error));
}

// On a full disk a file that only looks so long kills whoever writes into it.
int make_room(int descriptor, size_t bytes) {
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  return error;
}

}  // namespace

MappedFile MappedFile::create(const std::string& what, const std::string& path, size_t bytes) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) fail(what, path, descriptor, errno);
  if (const int error = make_room(descriptor, bytes)) fail(what, path, descriptor, error);
  return {what, path, descriptor, bytes};
}

MappedFile MappedFile::open(const std::string& what, const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat facts {};
  if (descriptor < 0 || ::fstat(descriptor, &facts) != 0) fail(what, path, descriptor, errno);
  return {what, path, descriptor, static_cast<size_t>(facts.st_size)};
}

MappedFile::MappedFile(const std::string& what, const std::string& path, int descriptor, size_t bytes) : bytes_(bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) fail(what, path, descriptor, errno);
  ::close(descriptor);
  data_ = memory;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace ringcheck::cli
