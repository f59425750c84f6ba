// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/moment.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace ringcheck {
namespace {

const c10::impl::DeviceGuardImplInterface& driver(at::DeviceType type) {
  return *c10::impl::getDeviceGuardImpl(type);
}

}  // namespace

Moment Moment::recorded(at::Device device, c10::EventFlag flag) {
  Moment moment;
  if (!has_streams(device)) return moment;
  moment.event_ = std::make_shared<c10::Event>(device.type(), flag);
  moment.event_->record(driver(device.type()).getStream(device));
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
