// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace ringcheck {

// Memory that processes of one host share, all zero at first. Whoever has it keeps it as long as he
// lives; its name is needed only to open it. Throws std::runtime_error where the host has none to give.
class SharedMemory {
 public:
  static SharedMemory create(size_t bytes);  // under a new name
  static SharedMemory open(const std::string& name, size_t bytes);
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  const std::string& name() const { return name_; }
  void* data() const { return data_; }
  void forget_name();  // nobody can open it any more

 private:
  SharedMemory(std::string name, size_t bytes, int flags);

  std::string name_;
  size_t bytes_;
  void* data_ = nullptr;
  bool named_ = false;  // by this process, which has to take the name back
};

}  // namespace ringcheck
