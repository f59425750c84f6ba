// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/test_device.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cstdlib>
#include <stdexcept>

#include "cp/device/cuda_library.h"

namespace ringcheck {

std::string test_device_name() {
  const char* said = std::getenv("RINGCHECK_TEST_DEVICE");
  const std::string name = said == nullptr ? "cpu" : said;
  if (name != "cpu" && name != "cuda")
    throw std::invalid_argument("RINGCHECK_TEST_DEVICE=" + name + "; known: cpu, cuda");
  if (name == "cuda" && why_no_cuda())
    throw std::runtime_error(*why_no_cuda());
  return name;
}

at::DeviceType test_device_type() {
  return test_device_name() == "cuda" ? at::kCUDA : at::kCPU;
}

at::Device test_device() {
  return test_device_type() == at::kCPU ? at::Device(at::kCPU) : at::Device(at::kCUDA, 0);
}

at::Device current_test_device() {
  if (test_device_type() == at::kCPU) return at::kCPU;
  return c10::impl::getDeviceGuardImpl(at::kCUDA)->getDevice();
}

}  // namespace ringcheck
