// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ringcheck::parity {

// Memory that another process has as well, by its descriptor: in no folder, gone with the last who
// has it.
class SharedMemory {
 public:
  SharedMemory();  // empty; throws std::system_error
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int descriptor() const { return descriptor_; }
  // The first bytes of it, at least so many; what was given before is no longer valid.
  std::byte* grown_to(int64_t bytes);

  // Where the other process may write next: behind everything that somebody here still has.
  int64_t free_from();
  // Some bytes as the other process left them, as long as somebody has them. Throws std::runtime_error
  // where there are fewer.
  std::shared_ptr<std::byte> lent(int64_t offset, int64_t bytes);

 private:
  struct Mapping;
  struct Lent {
    int64_t end;
    std::weak_ptr<std::byte> bytes;
  };
  void map(int64_t bytes);

  int descriptor_;
  std::shared_ptr<Mapping> mapping_;
  std::vector<Lent> lent_;
};

}  // namespace ringcheck::parity
