// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/errors/evaluate.h"

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <cub/block/block_reduce.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ringcheck::reference {
namespace {

// With these, two blocks of 64 registers a thread fill a multiprocessor.
constexpr int kThreads = 512, kBlocks = 2;

template <class Formula>
__global__ void __launch_bounds__(kThreads, kBlocks) every_element(Formula formula, int64_t rows) {
  for (int64_t row = blockIdx.x * blockDim.y + threadIdx.y; row < rows; row += gridDim.x * blockDim.y)
    for (int64_t column = threadIdx.x; column < formula.columns; column += blockDim.x)
      formula(row, column);
}

// A block a row, whose sums it adds up, in the same order each time.
__global__ void __launch_bounds__(kThreads, kBlocks) every_element(ForwardFormula formula, int64_t rows) {
  using Sum = cub::BlockReduce<double, kThreads>;
  __shared__ Sum::TempStorage of_w, of_z, of_absorbed;
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    PairSums sums;
    for (int64_t column = threadIdx.x; column < formula.columns; column += blockDim.x) sums.add(formula(row, column));
    const PairSums all{Sum(of_w).Sum(sums.w), Sum(of_z).Sum(sums.z), Sum(of_absorbed).Sum(sums.absorbed)};
    if (threadIdx.x == 0) formula.add_to(row, all);
    __syncthreads();
  }
}

// Channels are few, keys many.
template <class Formula>
constexpr int kRows = std::is_base_of_v<TileFormula, Formula> ? 1 : 4;  // a block

template <class Formula>
void on_gpu(const Formula& formula, int64_t rows, at::Device device) {
  constexpr int64_t kMostBlocks = 1 << 20;
  const c10::cuda::CUDAGuard current(device);
  const auto blocks = static_cast<unsigned>(std::min((rows - 1) / kRows<Formula> + 1, kMostBlocks));
  const dim3 threads(kThreads / kRows<Formula>, kRows<Formula>);
  every_element<<<blocks, threads, 0, c10::cuda::getCurrentCUDAStream().stream()>>>(formula, rows);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess)
    throw std::runtime_error(std::string("error bounds: ") + cudaGetErrorString(status));
}

const RegisteredEvaluation registered({on_gpu<ForwardFormula>, on_gpu<BackwardFormula>,
                                       on_gpu<OutputFormula>, on_gpu<QueryGradientFormula>,
                                       on_gpu<KeyGradientFormula>, on_gpu<StoredFormula>});

}  // namespace
}  // namespace ringcheck::reference
