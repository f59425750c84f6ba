// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/cuda/wgmma_dkv.cuh"
#include "kernels/cuda/wgmma_dq.cuh"
#include "kernels/cuda/wgmma_forward.cuh"
#include "kernels/cuda/wgmma_shape.h"

// Which kernels a pass launches, over which grids. A machine
//   map(shape, matrix, heads, slots, dim)               makes known to the copy engine,
//   launch<Memory>(kernel, grid, slices, arguments...)  runs: slices along z.
namespace ringcheck::wgmma {

inline Result result(const Matrix& x) { return {static_cast<float*>(x.data), x.batch, x.head, x.slot}; }

inline Problem problem(const Shape& s) {
  Problem p{};
  p.rows = s.rows, p.columns = s.columns;
  p.q_heads = s.q_heads, p.group = s.q_heads / s.kv_heads, p.dim = s.dim, p.dim_v = s.dim_v;
  p.scale = s.scale;
  // Not 0: hidden scores are -inf, and -inf * 0 is no number.
  p.scale2 = std::max(s.scale * kLog2E, 1e-30f);
  return p;
}

// use(grid of the queries, grid of the keys) for every kMostStrips parts, for one slice.
template <class Use>
void with_parts(Problem& p, const Shape& s, const Use& use) {
  const int key_blocks = (s.columns + kBlockRows - 1) / kBlockRows;
  for (size_t next = 0; next < s.parts.size(); p.add = true) {
    p.query_blocks = 0;
    for (p.strips = 0; p.strips < kMostStrips && next < s.parts.size(); ++next) {
      const Part& part = s.parts[next];
      Window& strip = p.strip[p.strips++];
      strip = {part.row,   part.row + part.rows - 1,  part.column, part.column + part.columns - 1,
               part.lower, part.upper};
      p.query_blocks += query_blocks(strip);
    }
    use(dim3(p.query_blocks * s.q_heads, s.batch), dim3(key_blocks * s.kv_heads, s.batch));
  }
}

// use(type, dim, dim_v): those that the kernels are compiled for and that hold this shape.
template <class Use>
void with_shape(const Shape& shape, const Use& use) {
  constexpr std::integral_constant<int, 64> narrow;
  constexpr std::integral_constant<int, 128> usual;
  constexpr std::integral_constant<int, 192> wide;
  constexpr std::integral_constant<int, 256> widest;
  const auto with_dims = [&](auto type) {
    const auto with_dim = [&](auto dim) {
      shape.dim_v <= narrow ? use(type, dim, narrow) : use(type, dim, usual);
    };
    // Few heads are wider than usual: where one of the two is, the other is computed as if it were nearly as wide.
    if (std::max(shape.dim, shape.dim_v) > wide)
      return shape.dim_v <= usual ? use(type, widest, usual) : use(type, widest, widest);
    if (shape.dim_v > usual) return use(type, wide, wide);
    if (shape.dim > usual) return use(type, wide, usual);
    shape.dim <= narrow ? with_dim(narrow) : with_dim(usual);
  };
  shape.bf16 ? with_dims(Bf16()) : with_dims(Half());
}

template <class Machine>
void forward_pass(const Machine& machine, const Shape& s, const ForwardTensors& t) {
  const auto q = machine.map(s, t.q, s.q_heads, s.rows, s.dim), k = machine.map(s, t.k, s.kv_heads, s.columns, s.dim),
             v = machine.map(s, t.v, s.kv_heads, s.columns, s.dim_v);
  Problem p = problem(s);
  p.out = result(t.out), p.lse_out = t.lse;
  with_shape(s, [&](auto type, auto dim, auto dim_v) {
    with_parts(p, s, [&](dim3 of_queries, dim3) {
      machine.template launch<ForwardMemory<dim(), dim_v()>>(forward_kernel<decltype(type), dim(), dim_v()>, of_queries,
                                                             1, q, k, v, p);
    });
  });
}

template <class Machine>
void backward_pass(const Machine& machine, const Shape& s, const BackwardTensors& t) {
  const auto q = machine.map(s, t.q, s.q_heads, s.rows, s.dim), k = machine.map(s, t.k, s.kv_heads, s.columns, s.dim),
             v = machine.map(s, t.v, s.kv_heads, s.columns, s.dim_v),
             d_o = machine.map(s, t.d_o, s.q_heads, s.rows, s.dim_v);
  Problem p = problem(s);
  p.dq = result(t.dq), p.dk = result(t.dk), p.dv = result(t.dv);
  p.lse = t.lse, p.delta = t.delta;
  with_shape(s, [&](auto type, auto dim, auto dim_v) {
    using T = decltype(type);
    // Slices of dK and dV are of 128 channels, or of fewer: 192 are computed as if they were 256.
    constexpr int whole = dim > 128 ? 256 : dim(), whole_v = dim_v > 128 ? 256 : dim_v();
    with_parts(p, s, [&](dim3 of_queries, dim3 of_keys) {
      machine.template launch<DqMemory<dim(), dim_v()>>(dq_kernel<T, dim(), dim_v()>, of_queries, 1, q, k,
                                                        v, d_o, p);
      machine.template launch<DkvMemory<whole, whole_v>>(dkv_kernel<T, whole, whole_v>, of_keys, Slice<whole>::kCount,
                                                         q, k, v, d_o, p);
    });
  });
}

}  // namespace ringcheck::wgmma
