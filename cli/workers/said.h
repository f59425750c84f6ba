// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ringcheck::cli {

constexpr size_t kLongestLog = 4000;  // bytes of it that a result keeps

// What this process, and those that share its standard output, write from now on: a worker's is a file. Elsewhere nothing
// is known of it.
class Said {
 public:
  Said();
  std::string text() const;  // its end

 private:
  int64_t before_;  // bytes
};

// Of what the processes of a worker wrote: the last `size` bytes.
std::string tail(const std::string& text, size_t size);

// The beginning, in one line; launchers frame it with dashes.
std::string in_a_line(const std::string& text);

// The same of a self-test that failed, whatever a launcher wrote before, and MPI behind.
std::string self_test_in_a_line(const std::string& text);

}  // namespace ringcheck::cli
