// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <type_traits>

#include "cp/attention/fused.h"

// Compiled with --fmad=false: a product that is added is rounded first, as LibTorch does it in two
// calls.
namespace ringcheck {
namespace {

constexpr int kThreads = 256, kWarp = 32, kRows = kThreads / kWarp;

unsigned blocks(int64_t items, int64_t each) {
  return static_cast<unsigned>(std::min<int64_t>((items + each - 1) / each, 1 << 20));
}

// launch(a number of this dtype, one of its accumulation type)
template <class Launch>
void with_dtype(at::ScalarType dtype, const Launch& launch) {
  switch (dtype) {
    case at::kDouble: return launch(0.0, 0.0);
    case at::kFloat: return launch(0.0f, 0.0f);
    case at::kHalf: return launch(at::Half(), 0.0f);
    case at::kBFloat16: return launch(at::BFloat16(), 0.0f);
    default: TORCH_CHECK(false, "floating point is needed, not ", dtype);
  }
}

// What a lane reads at a time.
template <class T, int kSize>
struct alignas(sizeof(T) * kSize) Piece {
  T values[kSize];
};

// Where the rows of a partial result lie: those of a head one behind the other.
template <class T, class A>
struct Rows {
  T* out;
  A* lse;
  int64_t out_step, lse_step;  // from one head to the next
};

// A warp a row.
template <int kSize, class TA, class TB, class TS, class A>
__global__ void merge_kernel(Rows<const TA, const A> a, Rows<const TB, const A> b, Rows<TS, A> sum, int64_t heads,
                             int64_t rows, int64_t dim) {
  const int64_t step = int64_t(gridDim.x) * kRows;
  for (int64_t i = int64_t(blockIdx.x) * kRows + threadIdx.y; i < heads * rows; i += step) {
    const int64_t head = i / rows, row = i % rows;
    const A la = a.lse[head * a.lse_step + row], lb = b.lse[head * b.lse_step + row], none = -INFINITY;
    // Where one side saw no key the other is returned untouched.
    const bool take_a = lb == none, take_b = la == none && !take_a;
    const A shift = la != la || lb != lb ? la + lb : max(la, lb);
    const A wa = exp(la - shift), wb = exp(lb - shift), total = wa + wb;
    const auto* of_a = reinterpret_cast<const Piece<TA, kSize>*>(a.out + head * a.out_step + row * dim);
    const auto* of_b = reinterpret_cast<const Piece<TB, kSize>*>(b.out + head * b.out_step + row * dim);
    auto* to = reinterpret_cast<Piece<TS, kSize>*>(sum.out + head * sum.out_step + row * dim);
    for (int64_t c = threadIdx.x; c < dim / kSize; c += kWarp) {
      Piece<TA, kSize> x{};
      Piece<TB, kSize> y{};
      if (!take_b) x = of_a[c];
      if (!take_a) y = of_b[c];
      Piece<TS, kSize> z;
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        const A va = static_cast<A>(x.values[k]), vb = static_cast<A>(y.values[k]);
        z.values[k] = static_cast<TS>(take_a ? va : take_b ? vb : (va * wa + vb * wb) / total);
      }
      to[c] = z;
    }
    __syncwarp();  // all lanes have read the LSE that may be overwritten
    if (threadIdx.x == 0) sum.lse[head * sum.lse_step + row] = take_a ? la : take_b ? lb : shift + log(total);
  }
}

int64_t step_of(const at::Tensor& x) { return x.size(1) > 1 ? x.stride(1) : x.stride(0); }

template <class T, class A>
Rows<const T, const A> read(const Partial& part) {
  return {part.out.const_data_ptr<T>(), part.lse.const_data_ptr<A>(), step_of(part.out), step_of(part.lse)};
}

template <class T>
bool in_fours(const at::Tensor& x) {
  return x.size(3) % 4 == 0 && step_of(x) % 4 == 0 && reinterpret_cast<uintptr_t>(x.const_data_ptr()) % sizeof(Piece<T, 4>) == 0;
}

template <class TA, class TB, class TS, class A>
void launch_merge(const Partial& a, const Partial& b, const Partial& sum) {
  const Rows<TS, A> to{sum.out.mutable_data_ptr<TS>(), sum.lse.mutable_data_ptr<A>(), step_of(sum.out), step_of(sum.lse)};
  const bool fours = in_fours<TA>(a.out) && in_fours<TB>(b.out) && in_fours<TS>(sum.out);
  const auto kernel = fours ? merge_kernel<4, TA, TB, TS, A> : merge_kernel<1, TA, TB, TS, A>;
  kernel<<<blocks(sum.lse.numel(), kRows), dim3(kWarp, kRows), 0, c10::cuda::getCurrentCUDAStream().stream()>>>(
      read<TA, A>(a), read<TB, A>(b), to, sum.lse.size(0) * sum.lse.size(1), sum.lse.size(2), sum.out.size(3));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

// Both sides are alike, bit for bit: the rounded one, if any, comes second.
void fused_merge(const Partial& a, const Partial& b, const Partial& sum) {
  const c10::cuda::CUDAGuard device(sum.out.device());
  if (sum.lse.numel() == 0) return;
  const at::ScalarType of_a = a.out.scalar_type(), of_b = b.out.scalar_type(), of_sum = sum.out.scalar_type();
  if (of_a == at::kDouble) return launch_merge<double, double, double, double>(a, b, sum);
  if (of_b == at::kFloat && of_a != at::kFloat) return fused_merge(b, a, sum);
  const at::ScalarType narrow = of_sum != at::kFloat ? of_sum : of_b;
  const auto fits = [&](at::ScalarType type) { return type == at::kFloat || type == narrow; };
  if (!fits(of_a)) return fused_merge({a.out.to(at::kFloat), a.lse}, b, sum);
  if (!fits(of_b)) return fused_merge(a, {b.out.to(at::kFloat), b.lse}, sum);
  with_dtype(narrow, [&](auto stored, auto) {
    using T = decltype(stored);
    const auto into = [&](auto rounded) {
      using S = decltype(rounded);
      if (of_b == at::kFloat) launch_merge<float, float, S, float>(a, b, sum);
      else if (of_a == at::kFloat) launch_merge<float, T, S, float>(a, b, sum);
      else launch_merge<T, T, S, float>(a, b, sum);
    };
    if constexpr (!std::is_same_v<T, double>) {
      if (of_sum == at::kFloat) into(0.0f);
      else into(T());
    }
  });
}

// A thread a pair of channels. Half: pair c is (c, c + pairs); interleaved: (2c, 2c + 1).
template <class T, class A>
__global__ void turn_kernel(const T* x, const double* positions, const double* frequencies, A* out,
                            int64_t total, int64_t slots, int pairs, bool half, A direction) {
  const int64_t step = int64_t(gridDim.x) * kThreads;
  for (int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x; i < total; i += step) {
    const int64_t row = i / pairs, c = i % pairs;
    const double angle = positions[row % slots] * frequencies[c];
    const A cosine = static_cast<A>(cos(angle)), sine = static_cast<A>(sin(angle)) * direction;
    const int64_t first = row * 2 * pairs + (half ? c : 2 * c), second = first + (half ? pairs : 1);
    const A a = static_cast<A>(x[first]), b = static_cast<A>(x[second]);
    out[first] = a * cosine - b * sine;
    out[second] = b * cosine + a * sine;
  }
}

at::Tensor fused_turn(const at::Tensor& x, const at::Tensor& positions,
                      const at::Tensor& frequencies, Rope::Pairing pairing, double direction) {
  const c10::cuda::CUDAGuard device(x.device());
  const at::Tensor out = at::empty(x.sizes(), x.options().dtype(accumulation_type(x.scalar_type())));
  const int64_t total = x.numel() / 2;
  if (total == 0) return out;
  with_dtype(x.scalar_type(), [&](auto stored, auto zero) {
    using T = decltype(stored);
    using A = decltype(zero);
    turn_kernel<T, A><<<blocks(total, kThreads), kThreads, 0,
                        c10::cuda::getCurrentCUDAStream().stream()>>>(
        x.const_data_ptr<T>(), positions.const_data_ptr<double>(), frequencies.const_data_ptr<double>(),
        out.mutable_data_ptr<A>(), total, x.size(2), static_cast<int>(x.size(3) / 2),
        pairing == Rope::Pairing::kHalf, static_cast<A>(direction));
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

// A warp a row: each lane adds up its pieces, then the lanes are added up in pairs.
template <int kSize, class T, class A>
__global__ void row_dots_kernel(const T* a, const T* b, A* dots, int64_t rows, int64_t columns) {
  using P = Piece<T, kSize>;
  const int64_t step = int64_t(gridDim.x) * kRows, pieces = columns / kSize;
  for (int64_t row = int64_t(blockIdx.x) * kRows + threadIdx.y; row < rows; row += step) {
    A sum = 0;
    for (int64_t c = row * pieces + threadIdx.x, end = (row + 1) * pieces; c < end; c += kWarp) {
      const P x = reinterpret_cast<const P*>(a)[c], y = reinterpret_cast<const P*>(b)[c];
#pragma unroll
      for (int i = 0; i < kSize; ++i) sum += static_cast<A>(x.values[i]) * static_cast<A>(y.values[i]);
    }
    for (int lane = kWarp / 2; lane > 0; lane /= 2) sum += __shfl_xor_sync(~0u, sum, lane);
    if (threadIdx.x == 0) dots[row] = sum;
  }
}

at::Tensor fused_row_dots(const at::Tensor& a, const at::Tensor& b) {
  const c10::cuda::CUDAGuard device(a.device());
  const at::Tensor dots =
      at::empty(a.sizes().slice(0, a.dim() - 1), a.options().dtype(accumulation_type(a.scalar_type())));
  if (dots.numel() == 0) return dots;
  with_dtype(a.scalar_type(), [&](auto stored, auto zero) {
    using T = decltype(stored);
    using A = decltype(zero);
    constexpr int kSize = 4;
    const auto in_pieces = [&](const at::Tensor& x) {
      return x.size(-1) % kSize == 0 && reinterpret_cast<uintptr_t>(x.data_ptr()) % sizeof(Piece<T, kSize>) == 0;
    };
    const auto kernel = in_pieces(a) && in_pieces(b) ? row_dots_kernel<kSize, T, A> : row_dots_kernel<1, T, A>;
    kernel<<<blocks(dots.numel(), kRows), dim3(kWarp, kRows), 0, c10::cuda::getCurrentCUDAStream().stream()>>>(
        a.const_data_ptr<T>(), b.const_data_ptr<T>(), dots.mutable_data_ptr<A>(), dots.numel(), a.size(-1));
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return dots;
}

const FusedForms::Add registered{"cuda", {fused_merge, fused_turn, fused_row_dots}};

}  // namespace
}  // namespace ringcheck
