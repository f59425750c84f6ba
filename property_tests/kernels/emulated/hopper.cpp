// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/kernels/emulated/hopper.h"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <string>
#include <utility>

namespace ringcheck::wgmma {
alignas(1024) char shared[emulated::kSharedBytes];  // as the kernels name it
}

namespace ringcheck::emulated {
namespace {

constexpr int kRow = 128, kSwizzled = 1;  // bytes of 64 channels; how they lie

void demand(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("emulated: ") + what);
}

// The address of a byte, as the swizzle of 128 bytes moves it.
size_t swizzled(size_t address) { return address ^ (address >> 7 & 7) << 4; }

// A matrix in shared memory by its description.
class Matrix {
 public:
  explicit Matrix(uint64_t bits)
      : start_((bits & 0x3fff) << 4), panel_((bits >> 16 & 0x3fff) << 4), group_((bits >> 32 & 0x3fff) << 4) {
    constexpr uint64_t kUnused = 0x3fffc000c000c000;
    demand(bits >> 62 == kSwizzled && (bits & kUnused) == 0, "a matrix is not swizzled by 128 bytes from aligned rows on");
  }
  // 16 channels of a row.
  uint16_t of_row(int row, int channel) const { return at(row / 8 * group_ + row % 8 * kRow + channel * 2); }
  // A row of 16, of any number of channels.
  uint16_t of_rows(int row, int channel) const {
    return at(channel / 64 * panel_ + row / 8 * group_ + row % 8 * kRow + channel % 64 * 2);
  }

 private:
  uint16_t at(size_t offset) const {
    const size_t address = swizzled(start_ + offset);
    demand(address + 2 <= kSharedBytes, "a product reads outside shared memory");
    return *reinterpret_cast<const uint16_t*>(shared_memory + address);
  }
  size_t start_, panel_, group_;
};

// The row and the column of the accumulator's register i of a thread of a warpgroup.
int row_of(int thread, int i) { return thread / kWarp * 16 + thread % kWarp / 4 + i / 2 % 2 * 8; }
int column_of(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

// What a thread issued and has not waited for: the groups that it committed, and those it did not.
struct Issued {
  std::deque<std::vector<Product>> groups;
  std::vector<Product> open;
};
std::vector<Issued> issued;

// One product of all threads of a warpgroup.
void multiply(const std::vector<Product>& threads) {
  const Product& one = threads.front();
  for (const Product& other : threads)
    demand(other.n == one.n && other.keeps == one.keeps && other.rows_of_b == one.rows_of_b &&
               other.a_matrix == one.a_matrix && other.b_matrix == one.b_matrix,
           "threads of a warpgroup ask for different products");
  std::vector<float> a(64 * 16), b(static_cast<size_t>(16) * one.n);
  if (one.rows_of_b) {
    for (int thread = 0; thread < kWarpgroup; ++thread)
      for (int i = 0; i < 8; ++i) {  // two numbers a register
        const int k = thread % 4 * 2 + i % 2 + i / 4 * 8;
        a[row_of(thread, i) * 16 + k] =
            number_of(static_cast<uint16_t>(threads[thread].a[i / 2] >> i % 2 * 16), one.bf16);
      }
  } else {
    const Matrix rows(one.a_matrix);
    for (int i = 0; i < 64 * 16; ++i) a[i] = number_of(rows.of_row(i / 16, i % 16), one.bf16);
  }
  const Matrix matrix(one.b_matrix);
  for (int k = 0; k < 16; ++k)
    for (int n = 0; n < one.n; ++n)
      b[k * one.n + n] = number_of(one.rows_of_b ? matrix.of_rows(k, n) : matrix.of_row(n, k), one.bf16);
  std::vector<float> product(static_cast<size_t>(64) * one.n);
  for (int m = 0; m < 64; ++m)
    for (int k = 0; k < 16; ++k)
      for (int n = 0; n < one.n; ++n) product[m * one.n + n] += a[m * 16 + k] * b[k * one.n + n];
  for (int thread = 0; thread < kWarpgroup; ++thread)
    for (int i = 0; i < one.n / 2; ++i) {
      float& d = threads[thread].d[i];
      d = (one.keeps ? d : 0) + product[row_of(thread, i) * one.n + column_of(thread, i)];
    }
}

void carry_out(int warpgroup, int pending) {
  const int first = warpgroup * kWarpgroup;
  while (static_cast<int>(issued[first].groups.size()) > pending) {
    std::vector<std::vector<Product>> of_threads;
    for (int thread = first; thread < first + kWarpgroup; ++thread) {
      demand(!issued[thread].groups.empty(), "threads of a warpgroup committed different groups");
      of_threads.push_back(issued[thread].groups.front());
      issued[thread].groups.pop_front();
      demand(of_threads.back().size() == of_threads.front().size(), "threads of a warpgroup issued different products");
    }
    for (size_t i = 0; i < of_threads.front().size(); ++i) {
      std::vector<Product> one;
      for (const std::vector<Product>& thread : of_threads) one.push_back(thread[i]);
      multiply(one);
    }
  }
}

}  // namespace

Block block;
char* shared_memory = wgmma::shared;

void Barrier::change(int arrived, int more_bytes) {
  pending -= arrived;
  bytes += more_bytes;
  demand(bytes >= 0, "more bytes come than a barrier was told to expect");
  demand(pending >= 0, "more threads arrive at a barrier than it waits for");
  if (pending == 0 && bytes == 0) ++phase, pending = arrivals;
  note_progress();
}

namespace {

void copy(const TensorMap& from, size_t start, Barrier& barrier, const std::array<int, 4>& at) {
  for (int row = 0; row < 64; ++row)
    for (int channel = 0; channel < 64; ++channel) {
      const int64_t place[] = {at[0] + channel, at[1] + row, at[2], at[3]};
      int64_t offset = 0;
      bool inside = true;
      for (int i = 0; i < 4; ++i) {
        inside = inside && place[i] >= 0 && place[i] < from.size[i];
        offset += place[i] * from.stride[i];
      }
      *reinterpret_cast<uint16_t*>(shared_memory + swizzled(start + row * kRow + channel * 2)) =
          inside ? from.data[offset] : uint16_t{0};
    }
  barrier.change(0, -64 * kRow);
}

}  // namespace

void copy_box(const TensorMap& from, void* to, Barrier& barrier, const std::array<int, 4>& at) {
  const size_t start = static_cast<size_t>(static_cast<char*>(to) - shared_memory);
  demand(start % 1024 == 0 && start + 64 * kRow <= kSharedBytes, "a box is not aligned, or outside shared memory");
  happens_later([&barrier, from, start, at] { copy(from, start, barrier, at); });
}

void issue(const Product& product) { issued[thread_index()].open.push_back(product); }

void commit() {
  Issued& own = issued[thread_index()];
  own.groups.push_back(std::exchange(own.open, {}));
}

void settle(int pending) {
  const int warpgroup = thread_index() / kWarpgroup;
  Meeting& meeting = block.warpgroups[warpgroup];
  meeting.meet(kWarpgroup, [&meeting, warpgroup, pending] {
    happens_later([&meeting, warpgroup, pending] {
      carry_out(warpgroup, pending);
      meeting.meet(1 + kWarpgroup);
    });
  });
  meeting.meet(1 + kWarpgroup);  // with the products
}

float number_of(uint16_t bits, bool bf16) {
  return bf16 ? static_cast<float>(c10::BFloat16(bits, c10::BFloat16::from_bits()))
              : static_cast<float>(c10::Half(bits, c10::Half::from_bits()));
}

float shuffled(float value, int mask) {
  const int warp = thread_index() / kWarp, lane = thread_index() % kWarp;
  Meeting& meeting = block.warps[warp];
  float(&values)[kWarp] = block.exchanged[warp][meeting.held() % 2];
  values[lane] = value;
  meeting.meet(kWarp);
  return values[lane ^ mask];
}

void run_grid(const Index& grid, int threads, const std::function<void()>& kernel) {
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        block = Block();
        block.index = {x, y, z};
        issued.assign(threads, {});
        std::ranges::fill(wgmma::shared, '\xff');  // what was there before is no number, in any type
        run_block(threads, kernel);
        for (const Issued& thread : issued)
          demand(thread.groups.empty() && thread.open.empty(), "a thread ended before its products");
      }
}

}  // namespace ringcheck::emulated
