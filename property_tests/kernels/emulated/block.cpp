// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/kernels/emulated/block.h"

#include <ucontext.h>

#include <memory>
#include <stdexcept>
#include <vector>

namespace ringcheck::emulated {
namespace {

constexpr size_t kStack = 128 * 1024;

struct Thread {
  ucontext_t context{};
  std::unique_ptr<char[]> stack{new char[kStack]};
  const std::function<bool()>* waits_for = nullptr;
  bool ended = false;
};

std::vector<Thread> all;
ucontext_t scheduler;
const std::function<void()>* code = nullptr;
int running = 0;
long progress = 0;

void begin() {
  (*code)();
  all[running].ended = true;
  note_progress();
  swapcontext(&all[running].context, &scheduler);
}

}  // namespace

void run_block(int threads, const std::function<void()>& body) {
  code = &body;
  all = std::vector<Thread>(threads);
  for (Thread& thread : all) {
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = kStack;
    thread.context.uc_link = &scheduler;
    makecontext(&thread.context, begin, 0);
  }
  for (bool anybody = true; anybody;) {
    const long before = progress;
    anybody = false;
    for (running = 0; running < threads; ++running)
      if (Thread& next = all[running]; !next.ended) {
        anybody = true;
        if (next.waits_for != nullptr && !(*next.waits_for)()) continue;
        swapcontext(&scheduler, &next.context);
      }
    if (anybody && progress == before) throw std::runtime_error("every thread of the block waits");
  }
}

int thread_index() { return running; }

void await(const std::function<bool()>& holds) {
  if (holds()) return;
  all[running].waits_for = &holds;
  swapcontext(&all[running].context, &scheduler);
  all[running].waits_for = nullptr;
}

void note_progress() { ++progress; }

void Meeting::meet(int size, const std::function<void()>& last) {
  const long own = held_;
  if (++there_ < size) return await([&] { return held_ != own; });
  there_ = 0;
  last();
  ++held_;
  note_progress();
}

}  // namespace ringcheck::emulated
