// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/wgmma_launch.h"

#include <stdexcept>
#include <string>

#include "kernels/cuda/wgmma_passes.cuh"

namespace ringcheck::wgmma {
namespace {

void check(cudaError_t code) {
  if (code != cudaSuccess)
    throw std::runtime_error(std::string("kernel wgmma: ") + cudaGetErrorString(code));
}

// The driver's function, without linking the driver.
auto encoder() {
  static const auto function = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                           cudaEnableDefault, &result));
    if (found == nullptr) throw std::runtime_error("the CUDA driver has no tensor maps");
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
  }();
  return function;
}

// What the copy engine needs to know: boxes of 64 rows and 64 channels, swizzled by 128 bytes.
CUtensorMap tensor_map(const Shape& shape, const Matrix& x, int heads, int slots, int dim) {
  const auto unsigned_of = [](int64_t n) { return static_cast<cuuint64_t>(n); };
  const cuuint64_t sizes[] = {unsigned_of(dim), unsigned_of(slots), unsigned_of(heads),
                              unsigned_of(shape.batch)};
  // Of a dimension of size 1 any stride will do.
  const auto stride = [](int64_t elements, int size) { return size > 1 ? 2 * elements : 16; };
  const cuuint64_t strides[] = {unsigned_of(stride(x.slot, slots)),
                                unsigned_of(stride(x.head, heads)),
                                unsigned_of(stride(x.batch, shape.batch))};
  const cuuint32_t box[] = {kPanel, kGroupRows, 1, 1}, every[] = {1, 1, 1, 1};
  CUtensorMap map;
  const CUresult code = encoder()(
      &map, shape.bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4,
      x.data, sizes, strides, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (code != CUDA_SUCCESS)
    throw std::runtime_error("kernel wgmma: the driver takes no tensor map of these strides");
  return map;
}

struct Gpu {
  cudaStream_t stream;

  CUtensorMap map(const Shape& shape, const Matrix& x, int heads, int slots, int dim) const {
    return tensor_map(shape, x, heads, slots, dim);
  }
  template <class Memory, class Kernel, class... Arguments>
  void launch(Kernel kernel, dim3 grid, int slices, const Arguments&... arguments) const {
    static_assert(sizeof(Memory) <= kMostShared);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Memory)));
    grid.z = static_cast<unsigned>(slices);
    kernel<<<grid, kThreads, sizeof(Memory), stream>>>(arguments...);
    check(cudaGetLastError());
  }
};

}  // namespace

void forward(const Shape& shape, const ForwardTensors& tensors, cudaStream_t stream) {
  forward_pass(Gpu{stream}, shape, tensors);
}

void backward(const Shape& shape, const BackwardTensors& tensors, cudaStream_t stream) {
  backward_pass(Gpu{stream}, shape, tensors);
}

}  // namespace ringcheck::wgmma
