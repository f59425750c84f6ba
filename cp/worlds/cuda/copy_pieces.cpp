// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/cuda/copy_pieces.h"

#include <c10/cuda/CUDAException.h>

#include <stdexcept>
#include <string>

namespace ringcheck {
namespace {

constexpr int64_t kFarthest = (int64_t{1} << 31) - 1;  // bytes between rows that a copy engine counts

// Pieces side by side at both ends are one.
void join(Pieces& a, Pieces& b) {
  for (const int axis : {1, 0}) {
    const bool side_by_side = a.count[axis] == 1 || (a.distance[axis] == a.bytes && b.distance[axis] == b.bytes);
    if (!side_by_side) return;
    a.bytes *= a.count[axis];
    b.bytes *= b.count[axis];
    a.count[axis] = b.count[axis] = 1;
  }
}

}  // namespace

void copy_pieces(void* to, const Pieces& there, const void* from, const Pieces& here, cudaStream_t stream) {
  Pieces a = there, b = here;
  if (a.count != b.count || a.bytes != b.bytes)
    throw std::runtime_error("a message of " + std::to_string(b.count[0] * b.count[1]) + " pieces of " + std::to_string(b.bytes) +
                             " bytes does not go into " + std::to_string(a.count[0] * a.count[1]) + " of " + std::to_string(a.bytes));
  join(a, b);
  // The rows of a call along the axis with more of them.
  const int rows = a.count[0] >= a.count[1] ? 0 : 1, calls = 1 - rows;
  for (int64_t call = 0; call < a.count[calls]; ++call) {
    auto* target = static_cast<char*>(to) + call * a.distance[calls];
    const auto* source = static_cast<const char*>(from) + call * b.distance[calls];
    if (a.count[rows] > 1 && a.distance[rows] <= kFarthest && b.distance[rows] <= kFarthest) {
      C10_CUDA_CHECK(cudaMemcpy2DAsync(target, a.distance[rows], source, b.distance[rows], a.bytes, a.count[rows],
                                       cudaMemcpyDeviceToDevice, stream));
      continue;
    }
    for (int64_t row = 0; row < a.count[rows]; ++row)
      C10_CUDA_CHECK(cudaMemcpyAsync(target + row * a.distance[rows], source + row * b.distance[rows], a.bytes,
                                     cudaMemcpyDeviceToDevice, stream));
  }
}

}  // namespace ringcheck
