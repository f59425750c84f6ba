// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/wgmma_launch.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/cuda/wgmma_dkv.cuh"
#include "kernels/cuda/wgmma_dq.cuh"
#include "kernels/cuda/wgmma_forward.cuh"

namespace ringcheck::wgmma {
namespace {

void check(cudaError_t code) {
  if (code != cudaSuccess)
    throw std::runtime_error(std::string("kernel wgmma: ") + cudaGetErrorString(code));
}

int blocks(int rows, int size) { return (rows + size - 1) / size; }

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

Problem problem(const Shape& s) {
  Problem p{};
  p.rows = s.rows, p.columns = s.columns;
  p.q_heads = s.q_heads, p.group = s.q_heads / s.kv_heads, p.dim = s.dim, p.dim_v = s.dim_v;
  p.scale = s.scale;
  // Not 0: hidden scores are -inf, and -inf * 0 is no number.
  p.scale2 = std::max(s.scale * kLog2E, 1e-30f);
  return p;
}

// use(grid of the queries, grid of the keys) for every kMostStrips parts.
template <class Use>
void with_parts(Problem& p, const Shape& s, const Use& use) {
  const int key_blocks = blocks(s.columns, kBlockRows);
  for (size_t next = 0; next < s.parts.size(); p.add = true) {
    p.query_blocks = 0;
    for (p.strips = 0; p.strips < kMostStrips && next < s.parts.size(); ++next) {
      const Part& part = s.parts[next];
      Window& strip = p.strip[p.strips++];
      strip = {part.row,   part.row + part.rows - 1,  part.column, part.column + part.columns - 1,
               part.lower, part.upper};
      p.query_blocks += QueryWork::count(strip);
    }
    use(dim3(p.query_blocks * s.q_heads, s.batch), dim3(key_blocks * s.kv_heads, s.batch));
  }
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

void forward(const Shape& s, const ForwardTensors& t, cudaStream_t stream) {
  const CUtensorMap q = queries(s, t.q, s.dim), k = keys(s, t.k, s.dim), v = keys(s, t.v, s.dim_v);
  Problem p = problem(s);
  p.out = result(t.out), p.lse_out = t.lse;
  with_shape(s, [&](auto type, auto dim, auto dim_v) {
    with_parts(p, s, [&](dim3 of_queries, dim3) {
      launch<ForwardMemory<dim(), dim_v()>>(forward_kernel<decltype(type), dim(), dim_v()>,
                                            of_queries, stream, q, k, v, p);
    });
  });
}

void backward(const Shape& s, const BackwardTensors& t, cudaStream_t stream) {
  const CUtensorMap q = queries(s, t.q, s.dim), d_o = queries(s, t.d_o, s.dim_v);
  const CUtensorMap k = keys(s, t.k, s.dim), v = keys(s, t.v, s.dim_v);
  Problem p = problem(s);
  p.dq = result(t.dq), p.dk = result(t.dk), p.dv = result(t.dv);
  p.lse = t.lse, p.delta = t.delta;
  with_shape(s, [&](auto type, auto dim, auto dim_v) {
    using T = decltype(type);
    with_parts(p, s, [&](dim3 of_queries, dim3 of_keys) {
      launch<DqMemory<dim(), dim_v()>>(dq_kernel<T, dim(), dim_v()>, of_queries, stream, q, k, v,
                                       d_o, p);
      launch<DkvMemory<dim(), dim_v()>>(dkv_kernel<T, dim(), dim_v()>, of_keys, stream, q, k, v,
                                        d_o, p);
    });
  });
}

}  // namespace ringcheck::wgmma
