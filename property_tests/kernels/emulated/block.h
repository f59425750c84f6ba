// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

// A thread block on the CPU: its threads take turns, each until it has to wait.
namespace ringcheck::emulated {

// Runs `body` in so many threads. Throws what one of them throws, and std::runtime_error where all that
// have not ended wait for ever.
void run_block(int threads, const std::function<void()>& body);

// Of the thread whose turn it is.
int thread_index();
// Lets the others on until it holds.
void await(const std::function<bool()>& holds);
// Something happened that others may have waited for.
void note_progress();
// Happens beside the threads: when all of them wait, one after the other in an order that is drawn.
void happens_later(std::function<void()> act);
void draw_orders_by(unsigned seed);

// Threads that wait for one another, again and again.
class Meeting {
 public:
  // The last of `size` threads to come does this before all go on.
  void meet(int size, const std::function<void()>& last = [] {});
  long held() const { return held_; }

 private:
  int there_ = 0;
  long held_ = 0;
};

}  // namespace ringcheck::emulated
