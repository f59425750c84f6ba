// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/kernels/emulated/block.h"

#include <ucontext.h>

#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ringcheck::emulated {
namespace {

constexpr size_t kStack = 128 * 1024;

struct Thread {
  ucontext_t context{};
  std::unique_ptr<char[]> stack{new char[kStack]};  // kept from block to block
  const std::function<bool()>* waits_for = nullptr;
  bool ended = false;
};

std::vector<Thread> all;
ucontext_t scheduler;
const std::function<void()>* code = nullptr;
int running = 0;
long progress = 0;
std::vector<std::function<void()>> later;
std::minstd_rand order;
std::exception_ptr failure;

void begin() {
  try {
    (*code)();
  } catch (...) {
    failure = std::current_exception();
  }
  all[running].ended = true;
  note_progress();
  swapcontext(&all[running].context, &scheduler);
}

void prepare(Thread& thread) {
  thread.waits_for = nullptr;
  thread.ended = false;
  getcontext(&thread.context);
  thread.context.uc_stack.ss_sp = thread.stack.get();
  thread.context.uc_stack.ss_size = kStack;
  makecontext(&thread.context, begin, 0);
}

void one_of_those_later() {
  if (later.empty()) throw std::runtime_error("every thread of the block waits");
  std::swap(later[order() % later.size()], later.back());
  const std::function<void()> act = std::move(later.back());
  later.pop_back();
  act();
  note_progress();
}

}  // namespace

void run_block(int threads, const std::function<void()>& body) {
  code = &body;
  all.resize(threads);
  later.clear();
  for (Thread& thread : all) prepare(thread);
  for (bool anybody = true; anybody;) {
    const long before = progress;
    anybody = false;
    for (running = 0; running < threads; ++running)
      if (Thread& next = all[running]; !next.ended) {
        anybody = true;
        if (next.waits_for != nullptr && !(*next.waits_for)()) continue;
        swapcontext(&scheduler, &next.context);
      }
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
    if (anybody && progress == before) one_of_those_later();
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

void happens_later(std::function<void()> act) { later.push_back(std::move(act)); }

void draw_orders_by(unsigned seed) { order.seed(seed); }

void Meeting::meet(int size, const std::function<void()>& last) {
  const long own = held_;
  if (++there_ < size) return await([&] { return held_ != own; });
  there_ = 0;
  last();
  ++held_;
  note_progress();
}

}  // namespace ringcheck::emulated
