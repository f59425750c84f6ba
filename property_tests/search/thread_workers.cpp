// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <future>
#include <thread>

#include "property_tests/search/workers.h"

namespace ringcheck::search {
namespace {

using Clock = std::chrono::steady_clock;

// One case on a thread of its own, which may never end: everything it needs is its own.
struct Attempt {
  parity::Case test;
  Conduct conduct;
  std::atomic<uint64_t> progress = 0;
  std::promise<parity::Verdict> verdict;

  void operator()() {
    parity::RunOptions options;
    options.subject = conduct.subject;
    options.judging = conduct.judging;
    options.deadline = conduct.deadline;
    options.observer = [this](int, const Operation&) { ++progress; };
    try {
      verdict.set_value(parity::verify(test, options));
    } catch (const std::exception& error) {
      parity::Verdict crash;
      crash.test = test;
      crash.status = parity::Status::kCrash;
      crash.reason = error.what();
      verdict.set_value(crash);
    }
  }
};

class ThreadWorkers final : public Workers {
 public:
  ThreadWorkers(Conduct conduct, int most_ranks)
      : conduct_(std::move(conduct)), most_ranks_(most_ranks) {}

  int most_ranks() const override { return most_ranks_; }
  std::string world_kind() const override { return "thread"; }

  parity::Verdict run(const parity::Case& test) override {
    const auto attempt = std::make_shared<Attempt>();
    attempt->test = test;
    attempt->conduct = conduct_;
    auto verdict = attempt->verdict.get_future();
    std::thread([attempt] { (*attempt)(); }).detach();
    uint64_t seen = 0;
    auto alive = Clock::now();
    while (verdict.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
      if (const uint64_t now = attempt->progress; now != seen)
        seen = now, alive = Clock::now();
      if (Clock::now() - alive > conduct_.give_up)
        return leave_behind(test);
    }
    return verdict.get();
  }

  bool left_behind() const override { return left_behind_; }

 private:
  parity::Verdict leave_behind(const parity::Case& test) {
    left_behind_ = true;
    parity::Verdict verdict;
    verdict.test = test;
    verdict.status = parity::Status::kHang;
    verdict.reason = "no rank said anything for " + std::to_string(conduct_.give_up.count()) +
                     " ms, nor came back from a wait; its threads are left behind";
    return verdict;
  }

  Conduct conduct_;
  int most_ranks_;
  bool left_behind_ = false;
};

}  // namespace

std::unique_ptr<Workers> thread_workers(const Conduct& conduct, int most_ranks) {
  return std::make_unique<ThreadWorkers>(conduct, most_ranks);
}

}  // namespace ringcheck::search
