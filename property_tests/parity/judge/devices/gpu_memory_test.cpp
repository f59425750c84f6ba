// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What the allocator keeps of a GPU is given back to its driver where it is much, and what a full one makes fail is
// for want of memory; and whether it is held back is known. On GPUs only: with RINGCHECK_TEST_DEVICE=cpu this is skipped.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "cp/device/held_back.h"
#include "parity/judge/devices/on_devices.h"
#include "parity/subject/out_of_memory.h"
#include "property_tests/test_device.h"

namespace ringcheck {
namespace {

constexpr double kMebi = 1 << 20;

TEST(KeptMemory, IsGivenBackWhereItIsMuch) {
  if (test_device_type() != at::kCUDA) GTEST_SKIP() << "there is none of a GPU: set RINGCHECK_TEST_DEVICE=cuda";
  const at::Device gpu = test_device();
  constexpr int64_t kBytes = 512 << 20;
  parity::give_back_kept(0);
  const at::Tensor held = at::ones({kBytes}, at::TensorOptions(gpu).dtype(at::kByte));
  at::ones({kBytes}, held.options());  // kept from here on
  const double kept = parity::kept_memory(gpu);
  EXPECT_GE(kept, 512 * kMebi);
  EXPECT_GE(parity::spare_memory(gpu), kept) << "it can be had again";
  parity::give_back_kept(1024 * kMebi);
  EXPECT_EQ(parity::kept_memory(gpu), kept) << "that much is not more than 1024 MiB";
  parity::give_back_kept(256 * kMebi);
  EXPECT_LT(parity::kept_memory(gpu), 64 * kMebi);
  EXPECT_EQ(held.sum().item<int64_t>(), kBytes) << "what is in use stays";
}

TEST(HeldBackGpu, SaysWhetherItIs) {
  if (test_device_type() != at::kCUDA) GTEST_SKIP() << "there is none of a GPU: set RINGCHECK_TEST_DEVICE=cuda";
  EXPECT_TRUE(held_back(test_device()).has_value()) << "the driver brings NVML, which says it";
}

// A library fails in its own words where nothing is free: on the GPU as a whole, whoever has it.
TEST(WantOfMemory, IsSeenOfAFullGpu) {
  if (test_device_type() != at::kCUDA) GTEST_SKIP() << "there is none of a GPU: set RINGCHECK_TEST_DEVICE=cuda";
  const parity::Case test = parity::parse_case("cuda/P2/s64");
  const auto is_seen = [&] {
    try {
      parity::within_memory(test, 0, test_device(), {}, [] { throw std::runtime_error("cuDNN: INTERNAL_ERROR"); });
    } catch (const parity::OutOfMemory&) {
      return true;
    } catch (const std::runtime_error&) {
    }
    return false;
  };
  parity::give_back_kept(0);
  EXPECT_FALSE(is_seen());
  std::vector<at::Tensor> all;
  for (int64_t bytes = int64_t{8} << 30; bytes >= 2 << 20; bytes /= 2) try {
      for (;;) all.push_back(at::empty({bytes}, at::TensorOptions(test_device()).dtype(at::kByte)));
    } catch (const c10::OutOfMemoryError&) {
    }
  EXPECT_TRUE(is_seen());
}

}  // namespace
}  // namespace ringcheck
