// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/wgmma_launch.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/cuda/wgmma_backward.cuh"
#include "kernels/cuda/wgmma_forward.cuh"

namespace ringcheck::wgmma {
namespace {

void check(cudaError_t code) {
  if (code != cudaSuccess)
    throw std::runtime_error(std::string("kernel wgmma: ") + cudaGetErrorString(code));
}

int blocks(int rows, int size) { return (rows + size - 1) / size; }
int padded(int rows) { return blocks(rows, kBlockRows) * kBlockRows; }

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
CUtensorMap queries(const Shape& s, const Matrix& x, int dim) {
  return tensor_map(s, x, s.q_heads, s.rows, dim);
}
CUtensorMap keys(const Shape& s, const Matrix& x, int dim) {
  return tensor_map(s, x, s.kv_heads, s.columns, dim);
}

Result result(const Matrix& x) { return {static_cast<float*>(x.data), x.batch, x.head, x.slot}; }

Problem problem(const Shape& s, int lse_rows) {
  Problem p{};
  p.seen = {s.lower, s.upper, s.columns - 1};
  p.rows = s.rows, p.columns = s.columns, p.lse_rows = lse_rows, p.padded = padded(s.rows);
  p.q_heads = s.q_heads, p.group = s.q_heads / s.kv_heads, p.dim = s.dim, p.dim_v = s.dim_v;
  p.scale = s.scale;
  // Not 0: hidden scores are -inf, and -inf * 0 is no number.
  p.scale2 = std::max(s.scale * 1.4426950408889634f, 1e-30f);
  return p;
}

template <class Memory, class Kernel, class... Arguments>
void launch(Kernel kernel, dim3 grid, cudaStream_t stream, const Arguments&... arguments) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Memory)));
  kernel<<<grid, kThreads, sizeof(Memory), stream>>>(arguments...);
  check(cudaGetLastError());
}

// use(type, dim, dim_v): those that the kernels are compiled for and that hold this shape.
template <class Use>
void with_shape(const Shape& shape, const Use& use) {
  using Narrow = std::integral_constant<int, 64>;
  using Wide = std::integral_constant<int, 128>;
  const auto with_dims = [&](auto type) {
    const auto with_dim = [&](auto dim) {
      shape.dim_v <= Narrow() ? use(type, dim, Narrow()) : use(type, dim, Wide());
    };
    shape.dim <= Narrow() ? with_dim(Narrow()) : with_dim(Wide());
  };
  shape.bf16 ? with_dims(__nv_bfloat16()) : with_dims(__half());
}

}  // namespace

int64_t stats_floats(const Shape& s) {
  return int64_t{2} * s.batch * s.q_heads * padded(s.rows);
}

void forward(const Shape& s, const ForwardTensors& t, cudaStream_t stream) {
  const CUtensorMap q = queries(s, t.q, s.dim), k = keys(s, t.k, s.dim), v = keys(s, t.v, s.dim_v);
  Problem p = problem(s, t.lse_rows);
  p.out = result(t.out), p.lse_out = t.lse;
  with_shape(s, [&](auto type, auto dim, auto dim_v) {
    launch<ForwardMemory<dim(), dim_v()>>(forward_kernel<decltype(type), dim(), dim_v()>,
                                          dim3(blocks(s.rows, kBlockRows), s.q_heads, s.batch),
                                          stream, q, k, v, p);
  });
}

void backward(const Shape& s, const BackwardTensors& t, cudaStream_t stream) {
  const CUtensorMap q = queries(s, t.q, s.dim), d_o = queries(s, t.d_o, s.dim_v);
  const CUtensorMap k = keys(s, t.k, s.dim), v = keys(s, t.v, s.dim_v);
  Problem p = problem(s, t.lse_rows);
  p.dq = result(t.dq), p.dk = result(t.dk), p.dv = result(t.dv);
  p.stats = t.stats, p.add = t.add;
  constexpr int kPrepare = 128;
  prepare_kernel<<<dim3(blocks(p.padded, kPrepare), s.q_heads, s.batch), kPrepare, 0, stream>>>(
      t.lse, t.delta, t.stats, s.rows, t.lse_rows, p.padded);
  check(cudaGetLastError());
  with_shape(s, [&](auto type, auto dim, auto dim_v) {
    using T = decltype(type);
    launch<DqMemory<dim(), dim_v()>>(dq_kernel<T, dim(), dim_v()>,
                                     dim3(blocks(s.rows, kBlockRows), s.q_heads, s.batch), stream,
                                     q, k, v, d_o, p);
    launch<DkvMemory<dim(), dim_v()>>(dkv_kernel<T, dim(), dim_v()>,
                                      dim3(blocks(s.columns, kBlockRows), s.kv_heads, s.batch),
                                      stream, q, k, v, d_o, p);
  });
}

}  // namespace ringcheck::wgmma
