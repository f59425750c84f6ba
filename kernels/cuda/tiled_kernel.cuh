// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

// Attention by its definition, a warp a row: no tensor cores, no atomics, every sum in one order.
namespace ringcheck::tiled {

constexpr int kWarp = 32, kWarps = 4;  // of a thread block
constexpr unsigned kAll = 0xffffffffu;

// [batch, heads, slots, dim], rows contiguous.
template <class T>
struct View {
  T* data;
  int64_t batch, head, slot;  // strides
  __device__ T* row(int b, int h, int64_t s) const {
    return data + b * batch + h * head + s * slot;
  }
};

// One block: rows are the slots of its queries, columns those of its keys; begin and end count
// columns. T: what is stored. A: what is computed in, and what results are stored in.
template <class T, class A>
struct Problem {
  View<const T> q, k, v, d_o;
  const A *lse, *delta;        // [batch, q_heads, rows]: natural logarithm; sum of dO * O
  const int32_t *begin, *end;  // [rows]: the key slots that a query sees
  View<A> out, dq, dk, dv;
  A* lse_out;  // [batch, q_heads, rows]; -inf for a query that sees no key
  A scale;     // of the scores
  int batch, q_heads, group, rows, columns, dim, dim_v;  // group: query heads that share a key
};

__device__ inline float wide(float x) { return x; }
__device__ inline double wide(double x) { return x; }
__device__ inline float wide(__half x) { return __half2float(x); }
__device__ inline float wide(__nv_bfloat16 x) { return __bfloat162float(x); }

template <class A>
__device__ A warp_sum(A x) {
  for (int other = kWarp / 2; other > 0; other /= 2) x += __shfl_xor_sync(kAll, x, other);
  return x;
}
template <class A>
__device__ A warp_max(A x) {
  for (int other = kWarp / 2; other > 0; other /= 2) x = max(x, __shfl_xor_sync(kAll, x, other));
  return x;
}
template <class A, class T>
__device__ A dot(const A* a, const T* b, int n) {
  A sum = 0;
  for (int c = 0; c < n; ++c) sum += a[c] * wide(b[c]);
  return sum;
}
// The row of this warp, widened, where the whole warp can read it.
template <class A, class T>
__device__ void stage(A* to, const T* from, int n) {
  for (int c = threadIdx.x; c < n; c += kWarp) to[c] = wide(from[c]);
  __syncwarp();
}
// sums += weight of each lane times that lane's row of `x`, lane after lane.
template <int N, class A, class T>
__device__ void add_rows(A (&sums)[N], A weight, const View<const T>& x, int b, int h,
                         int64_t first, int count, int dim) {
  for (int lane = 0; lane < count; ++lane) {
    const A w = __shfl_sync(kAll, weight, lane);
    const T* row = x.row(b, h, first + lane);
    for (int i = 0; i < N; ++i)
      if (const int c = threadIdx.x + i * kWarp; c < dim) sums[i] += w * wide(row[c]);
  }
}
template <int N, class A>
__device__ void store(A* row, const A (&sums)[N], A factor, int dim) {
  for (int i = 0; i < N; ++i)
    if (const int c = threadIdx.x + i * kWarp; c < dim) row[c] = sums[i] * factor;
}

// O and LSE of one query: the softmax is carried along, 32 keys at a time (Milakov and
// Gimelshein 2018). N: channels a lane holds.
template <int N, class T, class A>
__global__ void forward_kernel(const Problem<T, A> p) {
  extern __shared__ char memory[];
  A* q = reinterpret_cast<A*>(memory) + threadIdx.y * p.dim;
  const int row = blockIdx.x * kWarps + threadIdx.y, h = blockIdx.y, b = blockIdx.z;
  if (row >= p.rows) return;
  const int begin = p.begin[row], end = p.end[row], kv = h / p.group;
  stage(q, p.q.row(b, h, row), p.dim);
  A top = -INFINITY, sum = 0, o[N] = {};
  for (int first = begin; first < end; first += kWarp) {
    const int key = first + threadIdx.x;
    const A s = key < end ? dot(q, p.k.row(b, kv, key), p.dim) * p.scale : A(-INFINITY);
    const A higher = max(top, warp_max(s)), shrink = exp(top - higher);
    const A e = key < end ? exp(s - higher) : A(0);
    sum = sum * shrink + warp_sum(e);
    for (A& x : o) x *= shrink;
    add_rows(o, e, p.v, b, kv, first, min(kWarp, end - first), p.dim_v);
    top = higher;
  }
  store(p.out.row(b, h, row), o, begin < end ? 1 / sum : A(0), p.dim_v);
  if (threadIdx.x == 0)
    p.lse_out[(int64_t(b) * p.q_heads + h) * p.rows + row] =
        begin < end ? top + log(sum) : A(-INFINITY);
}

// P and dS of one pair, from the saved LSE and D (FlashAttention-2, Dao 2023, section 3.1); dS with
// the scale in it.
template <class T, class A>
struct Pair {
  A p = 0, ds = 0;
  __device__ Pair(const Problem<T, A>& all, A score, A dp, A lse, A delta) {
    p = exp(score * all.scale - lse);
    ds = p * (dp - delta) * all.scale;
  }
  __device__ Pair() = default;
};

// dQ of one query.
template <int N, class T, class A>
__global__ void dq_kernel(const Problem<T, A> p) {
  extern __shared__ char memory[];
  A* q = reinterpret_cast<A*>(memory) + threadIdx.y * (p.dim + p.dim_v);
  A* d_o = q + p.dim;
  const int row = blockIdx.x * kWarps + threadIdx.y, h = blockIdx.y, b = blockIdx.z;
  if (row >= p.rows) return;
  const int64_t at = (int64_t(b) * p.q_heads + h) * p.rows + row;
  const int begin = p.begin[row], end = p.end[row], kv = h / p.group;
  stage(q, p.q.row(b, h, row), p.dim);
  stage(d_o, p.d_o.row(b, h, row), p.dim_v);
  A dq[N] = {};
  for (int first = begin; first < end; first += kWarp) {
    const int key = first + threadIdx.x;
    Pair<T, A> pair;
    if (key < end)
      pair = {p, dot(q, p.k.row(b, kv, key), p.dim), dot(d_o, p.v.row(b, kv, key), p.dim_v),
              p.lse[at], p.delta[at]};
    add_rows(dq, pair.ds, p.k, b, kv, first, min(kWarp, end - first), p.dim);
  }
  store(p.dq.row(b, h, row), dq, A(1), p.dim);
}

// dK and dV of one key, over the heads that share it and all queries that see it.
template <int N, class T, class A>
__global__ void dkv_kernel(const Problem<T, A> p) {
  extern __shared__ char memory[];
  A* k = reinterpret_cast<A*>(memory) + threadIdx.y * (p.dim + p.dim_v);
  A* v = k + p.dim;
  const int key = blockIdx.x * kWarps + threadIdx.y, kv = blockIdx.y, b = blockIdx.z;
  if (key >= p.columns) return;
  stage(k, p.k.row(b, kv, key), p.dim);
  stage(v, p.v.row(b, kv, key), p.dim_v);
  A dk[N] = {}, dv[N] = {};
  for (int h = kv * p.group; h < (kv + 1) * p.group; ++h)
    for (int first = 0; first < p.rows; first += kWarp) {
      const int row = first + threadIdx.x;
      const bool sees = row < p.rows && p.begin[row] <= key && key < p.end[row];
      if (!__any_sync(kAll, sees)) continue;
      Pair<T, A> pair;
      if (sees) {
        const int64_t at = (int64_t(b) * p.q_heads + h) * p.rows + row;
        pair = {p, dot(k, p.q.row(b, h, row), p.dim), dot(v, p.d_o.row(b, h, row), p.dim_v),
                p.lse[at], p.delta[at]};
      }
      const int count = min(kWarp, p.rows - first);
      add_rows(dk, pair.ds, p.q, b, h, first, count, p.dim);
      add_rows(dv, pair.p, p.d_o, b, h, first, count, p.dim_v);
    }
  store(p.dk.row(b, kv, key), dk, A(1), p.dim);
  store(p.dv.row(b, kv, key), dv, A(1), p.dim_v);
}

}  // namespace ringcheck::tiled
