// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <array>
#include <cstdint>
#include <vector>

#include "property_tests/kernels/emulated/block.h"

// What of Hopper the kernel wgmma is told to use, on the CPU: shared memory, barriers, the copy engine
// and the tensor cores (PTX ISA 8, sections 9.7.9, 9.7.13 and 9.7.15). What is asynchronous there happens
// as late as it may, in an order that is drawn: copies, and products that a warpgroup waits for. Kinder
// than a GPU are: wgmma.fence, which does nothing; the wait for products, at which the four warps meet;
// two thread blocks that write the same; tensor maps, which take any strides.
namespace ringcheck::emulated {

constexpr int kWarp = 32, kWarpgroup = 128, kSharedBytes = 227 * 1024;

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

// Of the block that runs.
struct Block {
  Index index;
  Meeting everybody;
  std::vector<Meeting> warps = std::vector<Meeting>(32), warpgroups = std::vector<Meeting>(8);
  float exchanged[32][2][kWarp] = {};  // of each warp, of one meeting and of the next
};
extern Block block;
extern char* shared_memory;

// Arrivals and bytes that a phase still waits for.
struct Barrier {
  int arrivals = 0, pending = 0, bytes = 0, phase = 0;
  void change(int arrived, int more_bytes);
};

// A tensor of 16-bit numbers for the copy engine, inner dimension first: sizes, strides in elements.
struct TensorMap {
  const uint16_t* data = nullptr;
  int64_t size[4] = {}, stride[4] = {};
};
// A box of 64 rows of 64 channels to shared memory, swizzled by 128 bytes; zeros from outside the tensor.
void copy_box(const TensorMap& from, void* to, Barrier& barrier, const std::array<int, 4>& at);

// What a thread has of a product of 64 x N x 16: d += a b, both as the tensor cores are told of them.
struct Product {
  int n = 0;
  bool bf16 = false, keeps = true;
  bool rows_of_b = false;     // the product runs over them, and a is in registers; else over the channels of both
  float* d = nullptr;
  const uint32_t* a = nullptr;
  uint64_t a_matrix = 0, b_matrix = 0;
};
void issue(const Product& product);
void commit();
// Until at most so many committed groups of the warpgroup are on their way.
void settle(int pending);

float number_of(uint16_t bits, bool bf16);
float shuffled(float value, int mask);

// Runs a kernel as one thread after the other of each block of the grid.
void run_grid(const Index& grid, int threads, const std::function<void()>& kernel);

}  // namespace ringcheck::emulated
