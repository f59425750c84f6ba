// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/device_test.h"

#include <random>

#include "cp/device/cuda_library.h"
#include "parity/case/devices/on_device.h"
#include "parity/judge/devices/on_devices.h"
#include "parity/judge/elements/same_tally.h"
#include "reference/tiles/device_check.h"

namespace ringcheck::parity {

void test_devices_of(const std::vector<Case>& cases) {
  if (any_on_cuda(cases) && !why_no_cuda()) test_devices(devices_from({at::kCUDA, 0}));
}

void test_devices(const std::vector<at::Device>& devices) {
  std::random_device entropy;
  const uint64_t seed = entropy();
  on_devices(devices, static_cast<int64_t>(devices.size()), [&](int64_t, at::Device device) {
    if (const auto difference = inputs_difference(device, seed))
      throw SelfTestFailed("self-test: " + *difference);
    if (const auto difference = tally_difference(device, seed))
      throw SelfTestFailed("self-test: " + *difference);
    if (const auto difference = reference::device_difference(device, seed))
      throw SelfTestFailed("self-test: " + *difference);
  });
}

}  // namespace ringcheck::parity
