// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/devices/on_devices.h"

#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "cp/device/moment.h"
#include "parity/judge/devices/one_thread.h"

namespace ringcheck::parity {
namespace {

c10::Stream stream_of(at::Device device, size_t lane) {
  static std::mutex making;
  static std::map<std::pair<int, size_t>, c10::Stream> streams;
  const std::lock_guard lock(making);
  const std::pair key{static_cast<int>(device.index()), lane};
  const auto found = streams.find(key);
  if (found != streams.end()) return found->second;
  const c10::impl::VirtualGuardImpl driver(device.type());
  return streams.emplace(key, driver.getStreamFromGlobalPool(device)).first->second;
}

// A device as a thread's own, with the same streams whenever a thread takes this lane: LibTorch keeps
// freed memory for the stream that had it.
class OnLane {
 public:
  OnLane(at::Device device, size_t lane) : current_(device) {
    if (!has_streams(device)) return;
    const c10::impl::VirtualGuardImpl driver(device.type());
    for (int index = 0; index < device_count(device.type()); ++index)
      driver.exchangeStream(
          stream_of({device.type(), static_cast<at::DeviceIndex>(index)}, lane));
  }

 private:
  OnDevice current_;  // gives back what was current before
};

}  // namespace

void on_devices(const std::vector<at::Device>& devices, int64_t count,
                const std::function<void(int64_t, at::Device)>& work) {
  const OneThread alone;
  if (devices.size() == 1 || count <= 1) {
    for (int64_t i = 0; i < count; ++i) work(i, devices.front());
    return;
  }
  std::vector<Moment> queued;
  for (const at::Device device : devices) queued.push_back(Moment::now(device));
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failing;
  const auto run = [&](at::Device device, size_t lane) {
    try {
      at::set_num_threads(1);  // a new thread has a number of its own
      const OnLane current(device, lane);
      for (const Moment& moment : queued) {
        moment.hold_back(device);
        moment.hold_back(devices.front());
      }
      for (int64_t i = next++; i < count; i = next++) work(i, device);
    } catch (...) {
      const std::lock_guard lock(failing);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < std::min<size_t>(devices.size(), count); ++i)
    threads.emplace_back(run, devices[i], i);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

std::vector<at::Device> devices_from(at::Device first) {
  if (first.is_cpu()) return std::vector<at::Device>(threads_to_share(), first);
  std::vector<at::Device> devices{first};
  for (int index = 0; index < device_count(first.type()); ++index)
    if (index != first.index())
      devices.emplace_back(first.type(), static_cast<at::DeviceIndex>(index));
  return devices;
}

}  // namespace ringcheck::parity
