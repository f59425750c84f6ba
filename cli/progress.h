// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace ringcheck::cli {

// A bar on stderr while cases run; nothing at all where stderr is no terminal.
class Progress {
 public:
  explicit Progress(size_t cases);
  ~Progress();  // takes the bar away
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(bool good);

 private:
  void draw();

  bool shown_;
  size_t cases_, done_ = 0, bad_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), drawn_;
};

}  // namespace ringcheck::cli
