// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/lane.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <map>
#include <mutex>
#include <utility>

namespace ringcheck {
namespace {

c10::Stream stream_of(at::Device device, int lane) {
  static std::mutex making;
  static std::map<std::pair<int, int>, c10::Stream> streams;
  const std::lock_guard lock(making);
  const std::pair key{static_cast<int>(device.index()), lane};
  const auto found = streams.find(key);
  if (found != streams.end()) return found->second;
  const c10::impl::VirtualGuardImpl driver(device.type());
  return streams.emplace(key, driver.getStreamFromGlobalPool(device)).first->second;
}

}  // namespace

OnLane::OnLane(at::Device device, int lane) : current_(device) {
  if (!has_streams(device)) return;
  const c10::impl::VirtualGuardImpl driver(device.type());
  for (int index = 0; index < device_count(device.type()); ++index)
    driver.exchangeStream(stream_of({device.type(), static_cast<at::DeviceIndex>(index)}, lane));
}

}  // namespace ringcheck
