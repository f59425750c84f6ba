// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace ringcheck {

// [numbers] int64 on a device. The host need not wait for what the device has still to do, as LibTorch's blocking copy
// does: the driver has read memory that is not pinned when it returns. Not for a pass that is captured as a graph, which
// would read it again.
inline at::Tensor uploaded(const std::vector<int64_t>& numbers, at::Device device) {
  return at::tensor(numbers, at::kLong).to(at::TensorOptions(device), /*non_blocking=*/true);
}

}  // namespace ringcheck
