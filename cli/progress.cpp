// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "cli/screen.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

constexpr size_t kWidth = 20;
constexpr std::chrono::milliseconds kBetween{200};
constexpr const char* kClear = "\r\033[K";

bool is_terminal() {
  const char* name = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && name != nullptr && std::string(name) != "dumb";
}

// Whole seconds: a figure that changes five times a second cannot be read.
std::string roughly(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  if (whole < 100) return std::to_string(whole) + " s";
  if (whole < 6000) return std::to_string((whole + 59) / 60) + " min";
  return reports::fixed(seconds / 3600, 1) + " h";
}

}  // namespace

std::string time_left(double worked, double work, double seconds) {
  if (!(worked > 0) || !(work > worked)) return "";
  return "about " + roughly(seconds * (work - worked) / worked) + " left";
}

Progress::Progress(size_t steps, std::string what, double work)
    : shown_(is_terminal()), steps_(steps), what_(std::move(what)), work_(work) {
  if (shown_) clock_ = std::jthread([this](const std::stop_token& stop) { keep_drawing(stop); });
}

Progress::~Progress() {
  if (!shown_) return;
  clock_.request_stop();
  clock_.join();
  std::cerr << kClear << std::flush;
}

void Progress::advance(bool good, double work) {
  const std::lock_guard lock(drawing_);
  ++done_;
  bad_ += !good;
  worked_ += work;
}

void Progress::say(const std::string& line) {
  const std::lock_guard lock(drawing_);
  std::cerr << (shown_ ? kClear : "") << line << std::endl;
}

void Progress::keep_drawing(const std::stop_token& stop) {
  std::unique_lock lock(drawing_);
  while (!stop.stop_requested()) {
    draw();
    stopped_.wait_for(lock, stop, kBetween, [] { return false; });
  }
}

void Progress::draw() {
  const std::chrono::duration<double> past = std::chrono::steady_clock::now() - begin_;
  const double share = work_ > 0 ? std::clamp(worked_ / work_, 0.0, 1.0) : 0;
  const auto full = static_cast<size_t>(share * kWidth);
  const std::string left = time_left(worked_, work_, past.count());
  std::cerr << kClear << "[" << std::string(full, '=') << std::string(kWidth - full, ' ') << "] "
            << done_ << " of " << steps_ << " " << what_ << ", " << roughly(past.count())
            << (left.empty() ? "" : ", " + left);
  if (bad_ > 0)
    std::cerr << ", " << paint_on(std::cerr)(reports::Tone::kBad, std::to_string(bad_) + " failed");
  std::cerr << std::flush;
}

}  // namespace ringcheck::cli
