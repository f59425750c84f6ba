// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/out_of_memory.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <regex>

#include "cp/device/moment.h"
#include "cp/error.h"
#include "cp/words.h"

namespace ringcheck::parity {
namespace {

struct Memory {
  double free = 0, total = 0;
};

// Whether this process holds memory of a GPU: to ask others would take some.
bool is_used(c10::DeviceAllocator& allocator, c10::DeviceIndex gpu) {
  constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return allocator.getDeviceStats(gpu).reserved_bytes[kAll].current > 0;
}

// What drivers say: of this GPU, or of the one that has least free of those that are used. Nothing where none says it: an error
// may have broken the context.
std::optional<Memory> memory_of_driver(at::Device gpu) {
  auto* allocator = c10::getDeviceAllocator(gpu.type());
  if (!allocator->initialized()) return std::nullopt;
  std::optional<Memory> least;
  try {
    for (int i = 0; i < device_count(gpu.type()); ++i) {
      const auto index = static_cast<c10::DeviceIndex>(i);
      if (gpu.has_index() ? gpu.index() != index : !is_used(*allocator, index)) continue;
      const auto [free, total] = allocator->getMemoryInfo(index);
      const Memory memory{static_cast<double>(free), static_cast<double>(total)};
      if (!least || memory.free < least->free) least = memory;
    }
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return least;
}

// After what the allocator had kept for later was given back.
std::optional<Memory> memory_of(at::Device device) {
  if (device.is_cpu()) {
    struct sysinfo host {};
    ::sysinfo(&host);
    const double unit = host.mem_unit;
    return Memory{static_cast<double>(host.freeram) * unit, static_cast<double>(host.totalram) * unit};
  }
  try {
    c10::getDeviceAllocator(device.type())->emptyCache();
  } catch (const std::exception&) {
    return std::nullopt;
  }
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

// Those that fail in their own words.
bool is_of_a_library(const std::string& words) {
  static const std::regex libraries("cuda|cudnn|cublas|nccl|out of memory", std::regex::icase);
  return std::regex_search(words, libraries);
}

}  // namespace

bool is_for_want_of_memory(const std::exception& error, double free_bytes) {
  constexpr double kNextToNothing = 128 << 20;  // less than one process takes for a context
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  const bool known = dynamic_cast<const Timeout*>(&error) != nullptr || dynamic_cast<const Abandoned*>(&error) != nullptr ||
                     dynamic_cast<const RankFailure*>(&error) != nullptr ||
                     dynamic_cast<const std::logic_error*>(&error) != nullptr;
  return !known && free_bytes < kNextToNothing && is_of_a_library(words_of(error));
}

double free_of_driver(at::Device device) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  const std::optional<Memory> memory = device.is_cpu() ? std::nullopt : memory_of_driver(device);
  return memory ? memory->free : kUnknown;
}

std::string describe(const std::exception& error, const Case& test, int rank,
                     at::Device device, const MemoryModel& model) {
  const std::optional<Memory> memory = memory_of(device);
  return "out of memory: this rank of " + std::to_string(test.world) + " needs " +
         (model ? "at most " + gib(static_cast<double>(model(test, rank))) + " by the memory model"
                : "more than there is") + ", " + device.str() +
         (memory ? " has " + gib(memory->free) + " of " + gib(memory->total) + " free without it; "
                 : " does not say what is free; ") +
         beginning(words_of(error));
}

}  // namespace ringcheck::parity
