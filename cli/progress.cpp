// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "reports/text.h"

namespace ringcheck::cli {
namespace {

constexpr size_t kWidth = 30;
constexpr std::chrono::milliseconds kBetween{100};
constexpr const char* kClear = "\r\033[K";

bool is_terminal() {
  const char* name = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && name != nullptr && std::string(name) != "dumb";
}

}  // namespace

Progress::Progress(size_t cases) : shown_(is_terminal()), cases_(cases) {
  if (shown_)
    draw();
}

Progress::~Progress() {
  if (shown_)
    std::cerr << kClear << std::flush;
}

void Progress::advance(bool good) {
  ++done_;
  bad_ += !good;
  if (shown_ && std::chrono::steady_clock::now() - drawn_ > kBetween)
    draw();
}

void Progress::draw() {
  drawn_ = std::chrono::steady_clock::now();
  const size_t full = cases_ == 0 ? kWidth : done_ * kWidth / cases_;
  const double seconds = std::chrono::duration<double>(drawn_ - begin_).count();
  std::cerr << kClear << "[" << std::string(full, '=') << std::string(kWidth - full, ' ') << "] "
            << done_ << "/" << cases_ << "  " << reports::seconds_text(seconds);
  if (bad_ > 0)
    std::cerr << "  " << bad_ << " did not pass";
  std::cerr << std::flush;
}

}  // namespace ringcheck::cli
