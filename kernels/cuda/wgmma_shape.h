// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

// What the passes are asked for.
namespace ringcheck::wgmma {

constexpr int kNoLimit = 1 << 30;

// [batch, heads, slots, dim], rows contiguous; the strides count elements.
struct Matrix {
  void* data = nullptr;
  int64_t batch = 0, head = 0, slot = 0;
};

// Row i of [row, row + rows) sees the keys [i + lower, i + upper] that are in
// [column, column + columns); kNoLimit, and minus that, where there is none.
struct Part {
  int row = 0, rows = 0, column = 0, columns = 0, lower = -kNoLimit, upper = kNoLimit;
};

// Queries against keys. A row is in one part at most; there is a part.
struct Shape {
  bool bf16 = true;  // or fp16
  int batch = 1, q_heads = 1, kv_heads = 1, rows = 0, columns = 0, dim = 0, dim_v = 0;
  float scale = 1;  // 0 or more
  std::vector<Part> parts;
};

// 16-bit inputs: starts and strides are multiples of 16 bytes. float32 results: of 8 bytes.
struct ForwardTensors {
  Matrix q, k, v, out;
  float* lse;  // [batch, q_heads, rows]
};
struct BackwardTensors {
  Matrix q, k, v, d_o, dq, dk, dv;
  const float *lse, *delta;  // [batch, q_heads, rows]
};

constexpr int kMostChannels = 256;

}  // namespace ringcheck::wgmma
