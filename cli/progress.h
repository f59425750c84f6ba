// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace ringcheck::cli {

// A bar on stderr while work is done, with the time that is left; nothing at all where stderr is no
// terminal. Steps may be of different sizes, and may come from several threads.
class Progress {
 public:
  // "352 cases": what is counted; `work`: the sizes of all steps together, in any unit.
  Progress(size_t steps, std::string what, double work);
  explicit Progress(size_t steps, std::string what = "cases")
      : Progress(steps, std::move(what), static_cast<double>(steps)) {}
  ~Progress();  // takes the bar away
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(bool good, double work = 1);
  void say(const std::string& line);  // on stderr, terminal or not

 private:
  void draw();  // with the lock held
  void keep_drawing(const std::stop_token& stop);

  const bool shown_;
  const size_t steps_;
  const std::string what_;
  const double work_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  size_t done_ = 0, bad_ = 0;
  double worked_ = 0;
  std::mutex drawing_;
  std::condition_variable_any stopped_;
  std::jthread clock_;  // the time goes on where no step ends
};

// "about 40 s left": at the speed so far; empty where nothing is known.
std::string time_left(double worked, double work, double seconds);

}  // namespace ringcheck::cli
