// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/kept_threads.h"

#include <unistd.h>

#include <map>
#include <mutex>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

namespace ringcheck {
namespace {

// A thread that does what it is given, piece by piece, as long as the process lives.
class Kept {
 public:
  Kept() {
    std::thread([this] {
      for (;;) {
        given_.acquire();
        work_();
        done_.release();
      }
    }).detach();
  }

  void give(std::function<void()> work) {
    work_ = std::move(work);
    given_.release();
  }
  void await() {
    done_.acquire();
    work_ = nullptr;
  }

 private:
  std::function<void()> work_;
  std::binary_semaphore given_{0}, done_{0};
};

// Those that have nothing to do, by the number that they had. In a process that was forked they are not.
class Idle {
 public:
  Kept* take(int number) {
    const std::lock_guard lock(mutex_);
    std::vector<Kept*>& all = by_number_[number];
    if (all.empty()) return new Kept;  // for ever: a thread of the process uses it
    Kept* one = all.back();
    all.pop_back();
    return one;
  }
  void put(int number, Kept* one) {
    const std::lock_guard lock(mutex_);
    by_number_[number].push_back(one);
  }

  static Idle& here() {
    static std::mutex mutex;
    static std::map<pid_t, Idle*> of_process;  // for ever, as they
    const std::lock_guard lock(mutex);
    Idle*& idle = of_process[::getpid()];
    if (idle == nullptr) idle = new Idle;
    return *idle;
  }

 private:
  std::mutex mutex_;
  std::map<int, std::vector<Kept*>> by_number_;
};

}  // namespace

void on_kept_threads(int count, const std::function<void(int)>& work) {
  Idle& idle = Idle::here();
  std::vector<Kept*> threads;
  for (int number = 0; number < count; ++number) threads.push_back(idle.take(number));
  for (int number = 0; number < count; ++number) threads[number]->give([&, number] { work(number); });
  for (Kept* thread : threads) thread->await();
  for (int number = 0; number < count; ++number) idle.put(number, threads[number]);
}

}  // namespace ringcheck
