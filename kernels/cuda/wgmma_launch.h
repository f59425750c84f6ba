// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace ringcheck::wgmma {

// [batch, heads, slots, dim], rows contiguous; the strides count elements.
struct Matrix {
  void* data = nullptr;
  int64_t batch = 0, head = 0, slot = 0;
};

// Queries against keys: query i sees the keys [i + lower, i + upper] that there are.
struct Shape {
  bool bf16 = true;  // or fp16
  int batch = 1, q_heads = 1, kv_heads = 1, rows = 0, columns = 0, dim = 0, dim_v = 0;
  int lower = 0, upper = 0;
  float scale = 1;  // 0 or more
};
constexpr int kNoLimit = 1 << 30;  // an upper, and minus that a lower

// 16-bit inputs: starts and strides are multiples of 16 bytes. float32 out: of 8 bytes.
struct ForwardTensors {
  Matrix q, k, v, out;
  float* lse;    // [batch, q_heads, lse_rows], at the first row of the strip
  int lse_rows;
};
struct BackwardTensors {
  Matrix q, k, v, d_o, dq, dk, dv;
  const float *lse, *delta;  // [batch, q_heads, lse_rows], at the first row of the strip
  int lse_rows;
  float* stats;  // stats_floats() of scratch
  bool add;      // dK and dV to what is there
};

constexpr int kMostChannels = 128;
int64_t stats_floats(const Shape& shape);

// Throw std::runtime_error with what CUDA says.
void forward(const Shape& shape, const ForwardTensors& tensors, cudaStream_t stream);
void backward(const Shape& shape, const BackwardTensors& tensors, cudaStream_t stream);

}  // namespace ringcheck::wgmma
