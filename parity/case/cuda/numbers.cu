// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <Random123/philox.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "parity/case/data/independent.h"
#include "parity/case/devices/on_device.h"

namespace ringcheck::parity {
namespace {

// An element whose bits a GPU asks for.
struct ElementOnGpu : Element {
  __device__ r123::Philox4x32::ctr_type bits(uint32_t draw) const {
    const auto c = counter(draw);
    const auto k = key();
    return r123::Philox4x32()({{c[0], c[1], c[2], c[3]}}, {{k[0], k[1]}});
  }
};

// Where the rows of a tensor belong.
struct Rows {
  uint64_t seed;
  Which which;
  int64_t count, heads, slots, channels;
  const int64_t* positions;  // [slots]; -1: no token
};

constexpr int kThreads = 128;

template <class T, class Numbers>
__global__ void __launch_bounds__(kThreads) fill_rows(T* out, Rows rows, T empty, Numbers numbers) {
  constexpr bool kFilled = std::is_same_v<T, double>;
  for (int64_t row = blockIdx.x; row < rows.count; row += gridDim.x) {
    const int64_t head = row / rows.slots, position = rows.positions[row % rows.slots];
    ElementOnGpu e{{rows.seed, rows.which, static_cast<uint32_t>(head / rows.heads),
                    static_cast<uint32_t>(head % rows.heads), 0, static_cast<uint64_t>(position)}};
    for (int64_t channel = threadIdx.x; channel < rows.channels; channel += kThreads) {
      e.channel = static_cast<uint32_t>(channel);
      T& x = out[row * rows.channels + channel];
      if (position < 0) {
        x = empty;
        continue;
      }
      const double value = numbers(e);
      x = c10::convert<T>(kFilled ? independent::filled(value, e) : value);
    }
  }
}

template <class T, class Numbers>
void launch(const Rows& rows, const at::Tensor& out, Numbers numbers) {
  constexpr int64_t kMostBlocks = 1 << 16;
  const T empty = c10::convert<T>(std::numeric_limits<double>::quiet_NaN());
  const auto blocks = static_cast<unsigned>(std::min(rows.count, kMostBlocks));
  fill_rows<<<blocks, kThreads, 0, c10::cuda::getCurrentCUDAStream().stream()>>>(
      out.mutable_data_ptr<T>(), rows, empty, numbers);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess)
    throw std::runtime_error(std::string("inputs: ") + cudaGetErrorString(status));
}

void fill(const std::string& family, uint64_t seed, Which which, const at::Tensor& positions,
          const at::Tensor& out) {
  if (out.numel() == 0) return;
  const c10::cuda::CUDAGuard current(out.device());
  const Rows rows{seed,        which,       out.numel() / out.size(3), out.size(1), out.size(2),
                  out.size(3), positions.const_data_ptr<int64_t>()};
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, out.scalar_type(), "inputs", [&] {
    const auto fill_as = [&](auto numbers) {
      if (family == numbers.name) launch<scalar_t>(rows, out, numbers);
    };
    std::apply([&](auto... numbers) { (fill_as(numbers), ...); }, independent::All());
  });
}

const RegisteredNumbers registered({fill});

}  // namespace
}  // namespace ringcheck::parity
