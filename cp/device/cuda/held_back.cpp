// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/held_back.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <array>

namespace ringcheck {
namespace {

// Of NVML's reasons for lower clocks (nvml.h, nvmlClocksEventReason*): slowdown by hardware, by software as it is hot,
// by hardware as it is hot, and the brake of the power supply.
constexpr unsigned long long kHeatOrSupply = 0x8 | 0x20 | 0x40 | 0x80;

// NVIDIA's management library, which comes with the driver; its functions return 0 where they succeed.
class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) return;
    const auto init = function<int()>("nvmlInit_v2");
    handle_ = function<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
    reasons_ = function<int(void*, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
    ready_ = init != nullptr && handle_ != nullptr && reasons_ != nullptr && init() == 0;
  }

  std::optional<unsigned long long> reasons(const char* pci_bus) const {
    void* device = nullptr;
    unsigned long long reasons = 0;
    if (!ready_ || handle_(pci_bus, &device) != 0 || reasons_(device, &reasons) != 0) return std::nullopt;
    return reasons;
  }

 private:
  template <class Signature>
  Signature* function(const char* name) const {
    return reinterpret_cast<Signature*>(dlsym(library_, name));
  }

  void* library_;  // until the process ends
  int (*handle_)(const char*, void**) = nullptr;
  int (*reasons_)(void*, unsigned long long*) = nullptr;
  bool ready_ = false;
};

std::optional<bool> gpu_held_back(c10::Device device) {
  static const Nvml nvml;
  std::array<char, 32> pci_bus{};
  if (cudaDeviceGetPCIBusId(pci_bus.data(), pci_bus.size(), device.index()) != cudaSuccess) return std::nullopt;
  const auto reasons = nvml.reasons(pci_bus.data());
  return reasons ? std::optional((*reasons & kHeatOrSupply) != 0) : std::nullopt;
}

const HeldBack::Add registered{"cuda", gpu_held_back};

}  // namespace
}  // namespace ringcheck
