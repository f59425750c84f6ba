// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/devices/on_devices.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "cp/device/lane.h"
#include "parity/judge/devices/one_thread.h"

namespace ringcheck::parity {
namespace {

// The first copy from one device to another lets it reach the other's memory. LibTorch notes that before
// it is so, and a second thread that reads the note copies to where it may not: one thread goes first.
void connect(const std::vector<at::Device>& devices) {
  static std::mutex connecting;
  static std::set<std::pair<at::DeviceIndex, at::DeviceIndex>> connected;
  const std::lock_guard lock(connecting);
  for (const at::Device one : devices)
    for (const at::Device other : devices)
      if (one.index() < other.index() && connected.insert({one.index(), other.index()}).second)
        at::zeros({1}, at::TensorOptions(one)).to(other).to(one);
}

}  // namespace

void on_devices(const std::vector<at::Device>& devices, int64_t count,
                const std::function<void(int64_t, at::Device)>& work) {
  const OneThread alone;
  if (devices.size() == 1 || count <= 1) {
    for (int64_t i = 0; i < count; ++i) work(i, devices.front());
    return;
  }
  // What is read may lie on a GPU that has no part in the work.
  const std::vector<at::Device> all = devices_from(devices.front());
  if (!devices.front().is_cpu()) connect(all);
  std::vector<Moment> queued;
  for (const at::Device device : all) queued.push_back(Moment::now(device));
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failing;
  const auto run = [&](at::Device device, size_t lane) {
    try {
      at::set_num_threads(1);  // a new thread has a number of its own
      const OnLane current(device, -1 - static_cast<int>(lane));  // those of ranks begin at 0
      for (const Moment& moment : queued)
        for (const at::Device each : all) moment.hold_back(each);
      for (int64_t i = next++; i < count; i = next++) work(i, device);
    } catch (...) {
      const std::lock_guard lock(failing);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> threads;  // joined also where the system has no further one
    for (size_t i = 0; i < std::min<size_t>(devices.size(), count); ++i)
      threads.emplace_back(run, devices[i], i);
  }
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

std::vector<at::Device> lanes_from(at::Device first) {
  const std::vector<at::Device> devices = devices_from(first);
  std::vector<at::Device> lanes = devices;
  if (!first.is_cpu()) lanes.insert(lanes.end(), devices.begin(), devices.end());
  return lanes;
}

std::vector<at::Device> having(const std::vector<at::Device>& devices, double bytes,
                               const std::function<double(at::Device)>& spare) {
  std::vector<at::Device> roomy;
  std::ranges::copy_if(devices, std::back_inserter(roomy), [&](at::Device device) { return spare(device) >= bytes; });
  return roomy.empty() ? devices : roomy;
}

double kept_memory(at::Device gpu) {
  constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  const auto stats = c10::getDeviceAllocator(gpu.type())->getDeviceStats(gpu.index());
  return static_cast<double>(stats.reserved_bytes[kAll].current - stats.allocated_bytes[kAll].current);
}

double spare_memory(at::Device gpu) {
  return static_cast<double>(c10::getDeviceAllocator(gpu.type())->getMemoryInfo(gpu.index()).first) + kept_memory(gpu);
}

void give_back_kept(double most) {
  c10::DeviceAllocator* allocator = c10::getDeviceAllocator(at::kCUDA);
  if (!allocator->initialized()) return;  // this process has computed nothing there
  const std::vector<at::Device> gpus = devices_from({at::kCUDA, 0});
  if (std::ranges::any_of(gpus, [&](at::Device gpu) { return kept_memory(gpu) > most; })) allocator->emptyCache();
}

}  // namespace ringcheck::parity
