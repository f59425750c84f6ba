// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/out_of_memory.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <vector>

#include "cp/device/moment.h"
#include "cp/error.h"

namespace ringcheck::parity {
namespace {

struct Memory {
  double free = 0, total = 0;
};

Memory memory_of_driver(at::Device gpu) {
  auto* allocator = c10::getDeviceAllocator(gpu.type());
  const auto of = [&](c10::DeviceIndex index) {
    const auto [free, total] = allocator->getMemoryInfo(index);
    return Memory{static_cast<double>(free), static_cast<double>(total)};
  };
  if (gpu.has_index()) return of(gpu.index());
  std::vector<Memory> all;
  for (int i = 0; i < device_count(gpu.type()); ++i) all.push_back(of(static_cast<c10::DeviceIndex>(i)));
  return *std::ranges::min_element(all, {}, &Memory::free);
}

// After what the allocator had kept for later was given back.
Memory memory_of(at::Device device) {
  if (device.is_cpu()) {
    struct sysinfo host {};
    ::sysinfo(&host);
    const double unit = host.mem_unit;
    return {static_cast<double>(host.freeram) * unit, static_cast<double>(host.totalram) * unit};
  }
  c10::getDeviceAllocator(device.type())->emptyCache();
  return memory_of_driver(device);
}

std::string gib(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GiB", bytes / (1 << 30));
  return text;
}

// The first sentences: what was asked for, and of what.
std::string beginning(const std::string& message) {
  size_t end = message.find('\n');
  for (const char* mark : {" Including", " Of the allocated", " Process "})
    end = std::min(end, message.find(mark));
  return message.substr(0, std::min<size_t>(end, 200));
}

std::string words_of(const std::exception& error) {
  const auto* torchs = dynamic_cast<const c10::Error*>(&error);
  return torchs == nullptr ? error.what() : torchs->what_without_backtrace();
}

}  // namespace

bool is_for_want_of_memory(const std::exception& error, double free_bytes) {
  constexpr double kNextToNothing = 128 << 20;  // less than one process takes for a context
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  const bool known = dynamic_cast<const Timeout*>(&error) != nullptr || dynamic_cast<const Abandoned*>(&error) != nullptr ||
                     dynamic_cast<const RankFailure*>(&error) != nullptr ||
                     dynamic_cast<const std::logic_error*>(&error) != nullptr;
  return !known && free_bytes < kNextToNothing;
}

// An error may have broken the context: it is not for want of memory then.
double free_of_driver(at::Device device) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  if (device.is_cpu() || !c10::getDeviceAllocator(device.type())->initialized()) return kUnknown;
  try {
    return memory_of_driver(device).free;
  } catch (const std::exception&) {
    return kUnknown;
  }
}

std::string describe(const std::exception& error, const Case& test, int rank,
                     at::Device device, const MemoryModel& model) {
  const Memory memory = memory_of(device);
  return "out of memory: this rank of " + std::to_string(test.world) + " needs " +
         (model ? "at most " + gib(static_cast<double>(model(test, rank))) + " by the memory model"
                : "more than there is") + ", " + device.str() + " has " + gib(memory.free) + " of " +
         gib(memory.total) + " free without it; " + beginning(words_of(error));
}

}  // namespace ringcheck::parity
