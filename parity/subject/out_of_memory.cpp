// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/out_of_memory.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <sys/sysinfo.h>

#include <cstdio>

namespace ringcheck::parity {
namespace {

struct Memory {
  double free = 0, total = 0;
};

// After what the allocator had kept for later was given back.
Memory memory_of(at::Device device) {
  if (device.is_cpu()) {
    struct sysinfo host {};
    ::sysinfo(&host);
    const double unit = host.mem_unit;
    return {static_cast<double>(host.freeram) * unit, static_cast<double>(host.totalram) * unit};
  }
  auto* allocator = c10::getDeviceAllocator(device.type());
  allocator->emptyCache();
  const auto [free, total] = allocator->getMemoryInfo(device.index());
  return {static_cast<double>(free), static_cast<double>(total)};
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

}  // namespace

std::string describe(const c10::OutOfMemoryError& error, const Case& test, int rank,
                     at::Device device, const MemoryModel& model) {
  const Memory memory = memory_of(device);
  return "out of memory: this rank of " + std::to_string(test.world) + " needs " +
         (model ? "at most " + gib(static_cast<double>(model(test, rank))) + " by the memory model"
                : "more than there is") + ", " + device.str() + " has " + gib(memory.free) + " of " +
         gib(memory.total) + " free without it; " + beginning(error.what_without_backtrace());
}

}  // namespace ringcheck::parity
