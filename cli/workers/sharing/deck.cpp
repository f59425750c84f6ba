// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/sharing/deck.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/usage_error.h"

namespace ringcheck::cli {
namespace {

[[noreturn]] void fail(const std::string& path, int descriptor, int error) {
  if (descriptor >= 0) ::close(descriptor);
  throw UsageError("cannot share the cases in '" + path + "': " + std::strerror(error) +
                   "; let TMPDIR name a folder with more space");
}

// On a full disk a file that only looks so long kills whoever writes into it.
int make_room(int descriptor, size_t bytes) {
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  return error;
}

// One more than cases: of nothing no memory can be mapped.
size_t bytes_of(size_t cases) { return (cases + 1) * sizeof(int32_t); }

}  // namespace

Deck Deck::map(const std::string& path, int descriptor, size_t cases) {
  void* memory = ::mmap(nullptr, bytes_of(cases), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) fail(path, descriptor, errno);
  ::close(descriptor);
  return {cases, static_cast<int32_t*>(memory)};
}

Deck Deck::create(const std::string& path, size_t cases) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) fail(path, descriptor, errno);
  if (const int error = make_room(descriptor, bytes_of(cases))) fail(path, descriptor, error);
  return map(path, descriptor, cases);
}

Deck Deck::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat facts {};
  if (descriptor < 0 || ::fstat(descriptor, &facts) != 0) fail(path, descriptor, errno);
  return map(path, descriptor, static_cast<size_t>(facts.st_size) / sizeof(int32_t) - 1);
}

Deck::Deck(Deck&& other) noexcept : cases_(other.cases_), takers_(std::exchange(other.takers_, nullptr)) {}

Deck::~Deck() {
  if (takers_ != nullptr) ::munmap(takers_, bytes_of(cases_));
}

std::optional<size_t> Deck::take(int32_t taker) const {
  for (size_t index = 0; index < cases_; ++index) {
    int32_t nobody = kNobody;
    if (taker_of(index).compare_exchange_strong(nobody, taker)) return index;
  }
  return std::nullopt;
}

std::vector<size_t> Deck::of(int32_t taker) const {
  std::vector<size_t> own;
  for (size_t index = 0; index < cases_; ++index)
    if (taker_of(index) == taker) own.push_back(index);
  return own;
}

void Deck::put_back(size_t index) const { taker_of(index) = kNobody; }

}  // namespace ringcheck::cli
