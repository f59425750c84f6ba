// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace ringcheck::cli {

// A file in memory that processes share. Throws std::runtime_error, which begins with what the file is.
class MappedFile {
 public:
  static MappedFile create(const std::string& what, const std::string& path, size_t bytes);  // all zero
  static MappedFile open(const std::string& what, const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  MappedFile(const std::string& what, const std::string& path, int descriptor, size_t bytes);

  size_t bytes_ = 0;
  void* data_ = nullptr;
};

}  // namespace ringcheck::cli
