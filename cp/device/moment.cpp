// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/moment.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <map>
#include <mutex>
#include <tuple>

namespace ringcheck {
namespace {

const c10::impl::DeviceGuardImplInterface& driver(at::DeviceType type) {
  return *c10::impl::getDeviceGuardImpl(type);
}

// Events that no moment needs any more, for the next ones: to make one takes a driver longer than to record it, and
// many threads that make some wait for each other. Never destroyed: the driver may be gone by then.
class Events {
 public:
  std::shared_ptr<c10::Event> take(at::Device device, c10::EventFlag flag) {
    const Kind kind{device.type(), device.index(), flag};
    return {idle_or_new(kind), [this, kind](c10::Event* event) {
              const std::lock_guard lock(mutex_);
              idle_[kind].push_back(event);
            }};
  }

 private:
  using Kind = std::tuple<at::DeviceType, at::DeviceIndex, c10::EventFlag>;

  c10::Event* idle_or_new(const Kind& kind) {
    const std::lock_guard lock(mutex_);
    std::vector<c10::Event*>& idle = idle_[kind];
    if (idle.empty()) return new c10::Event(std::get<at::DeviceType>(kind), std::get<c10::EventFlag>(kind));
    c10::Event* event = idle.back();
    idle.pop_back();
    return event;
  }

  std::mutex mutex_;
  std::map<Kind, std::vector<c10::Event*>> idle_;
};

Events& events() {
  static auto* all = new Events;
  return *all;
}

}  // namespace

Moment Moment::recorded(at::Device device, c10::EventFlag flag) {
  Moment moment;
  if (!has_streams(device)) return moment;
  const c10::Stream stream = driver(device.type()).getStream(device);
  moment.event_ = events().take(stream.device(), flag);
  moment.event_->record(stream);
  return moment;
}

Moment Moment::now(at::Device device) {
  return recorded(device, c10::EventFlag::PYTORCH_DEFAULT);
}

// LibTorch's own flag means "without a time", the backend's "with one".
Moment Moment::timed(at::Device device) {
  return recorded(device, c10::EventFlag::BACKEND_DEFAULT);
}

void Moment::hold_back(at::Device device) const {
  if (event_ && has_streams(device)) event_->block(driver(device.type()).getStream(device));
}

bool Moment::passed() const { return !event_ || event_->query(); }

double Moment::since(const Moment& earlier) const {
  return earlier.event_->elapsedTime(*event_) / 1000;
}

OnDevice::OnDevice(at::Device device) : before_(device) {
  if (!has_streams(device)) return;
  const auto& own = driver(device.type());
  before_ = own.exchangeDevice(device);
  for (int index = 0; index < device_count(device.type()); ++index) {
    const at::Device each(device.type(), static_cast<at::DeviceIndex>(index));
    streams_before_.push_back(own.exchangeStream(own.getStreamFromGlobalPool(each)));
  }
}

OnDevice::~OnDevice() {
  if (!has_streams(before_)) return;
  const auto& own = driver(before_.type());
  for (const c10::Stream& stream : streams_before_) own.exchangeStream(stream);
  own.uncheckedSetDevice(before_);
}

int device_count(at::DeviceType type) {
  if (type == at::kCPU) return 1;
  return c10::impl::hasDeviceGuardImpl(type) ? driver(type).deviceCount() : 0;
}

at::Device device_of_rank(at::DeviceType type, int rank) {
  if (type == at::kCPU) return at::kCPU;
  return {type, static_cast<at::DeviceIndex>(rank % std::max(1, device_count(type)))};
}

}  // namespace ringcheck
