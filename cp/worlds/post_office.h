// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>

#include "cp/error.h"
#include "cp/device/moment.h"

namespace ringcheck {

// One message on its way. The sender lends its tensor until the receiver has taken it.
struct Parcel {
  at::Tensor data;
  std::atomic<bool> posted = false, taken = false;
  Moment ready, copied;             // on the device: it may be read, it has been read
  std::condition_variable changed;  // only its two ranks wait here, so nobody else is woken
};

// (group, sending world rank, receiving world rank, how many messages went that way before)
using Address = std::tuple<int64_t, int, int, int64_t>;

// What the ranks of one world share.
class PostOffice {
 public:
  std::shared_ptr<Parcel> at(const Address& address) {
    std::lock_guard lock(mutex_);
    auto& parcel = parcels_[address];
    if (!parcel) parcel = std::make_shared<Parcel>();
    return parcel;
  }
  void forget(const Address& address) {
    std::lock_guard lock(mutex_);
    parcels_.erase(address);
  }
  void change(Parcel& parcel, const std::function<void()>& what) {
    {
      std::lock_guard lock(mutex_);
      what();
    }
    parcel.changed.notify_all();
  }
  // False when the time is up; throws when another rank has failed. Being woken takes some 0.07 ms: whoever
  // cannot spare it stays awake for that long, which costs a core.
  bool await(Parcel& parcel, std::chrono::milliseconds time, const std::function<bool()>& what,
             std::chrono::milliseconds awake) {
    const auto asleep = std::chrono::steady_clock::now() + std::min(awake, time);
    while (!what() && !failed_ && std::chrono::steady_clock::now() < asleep) std::this_thread::yield();
    std::unique_lock lock(mutex_);
    const bool in_time = parcel.changed.wait_for(lock, time, [&] { return what() || failure_; });
    if (failure_ && !what()) throw Abandoned(failure_->what());
    return in_time;
  }
  void fail(const RankFailure& failure) {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = failure;
    failed_ = true;
    for (const auto& [address, parcel] : parcels_) parcel->changed.notify_all();
  }
  const std::optional<RankFailure>& failure() const { return failure_; }
  // When the ranks have ended, of the group of all of them: who drops a message of another one need not wait for it.
  size_t held() const {
    return std::ranges::count_if(parcels_, [](const auto& parcel) { return std::get<0>(parcel.first) == 0; });
  }

 private:
  std::mutex mutex_;
  std::map<Address, std::shared_ptr<Parcel>> parcels_;
  std::optional<RankFailure> failure_;
  std::atomic<bool> failed_ = false;
};

}  // namespace ringcheck
