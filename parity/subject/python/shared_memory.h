// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

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
  // The first bytes as the other process left them. Throws std::runtime_error where it has fewer.
  const std::byte* holding(int64_t bytes);

 private:
  void map(int64_t bytes);

  int descriptor_;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace ringcheck::parity
