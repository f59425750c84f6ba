// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <cmath>

#include "cp/cuda_library.h"
#include "cp/strips.h"
#include "kernels/cuda/wgmma_launch.h"

namespace ringcheck {
namespace {

// Rows contiguous, the rest where the copy engine can find it.
at::Tensor ready(const at::Tensor& x) {
  const auto strides = x.strides();
  const bool found = x.stride(-1) == 1 && reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0 &&
                     std::all_of(strides.begin(), strides.end() - 1,
                                 [](int64_t stride) { return stride > 0 && stride % 8 == 0; });
  return found ? x : x.clone(at::MemoryFormat::Contiguous);
}

// From slot `first` on.
wgmma::Matrix from(const at::Tensor& x, int64_t first) {
  return {static_cast<char*>(x.data_ptr()) + first * x.stride(2) * x.element_size(), x.stride(0),
          x.stride(1), x.stride(2)};
}

wgmma::Shape shape_of(const Strip& strip, const at::Tensor& q, const at::Tensor& k,
                      const at::Tensor& v, double scale) {
  const auto size = [](const at::Tensor& x, int dim) { return static_cast<int>(x.size(dim)); };
  wgmma::Shape shape{q.scalar_type() == at::kBFloat16,
                     size(q, 0), size(q, 1), size(k, 1), static_cast<int>(strip.rows),
                     static_cast<int>(strip.columns), size(q, 3), size(v, 3),
                     -wgmma::kNoLimit, wgmma::kNoLimit, static_cast<float>(std::abs(scale))};
  if (strip.kind != Strip::Kind::kFull)
    shape.upper = static_cast<int>(strip.columns - strip.rows);
  if (strip.kind == Strip::Kind::kBand) shape.lower = 0;
  return shape;
}

bool every_row(const std::vector<Strip>& list, int64_t rows) {
  int64_t covered = 0;
  for (const Strip& strip : list) covered += strip.rows;
  return covered == rows;
}

// Our own kernel for Hopper's tensor cores: 16-bit inputs, float32 partial results, no atomics.
class Wgmma final : public AttentionKernel {
 public:
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    if (shape.dtype != at::kBFloat16 && shape.dtype != at::kHalf)
      return std::string("kernel wgmma computes bf16 and fp16, not ") + c10::toString(shape.dtype);
    if (shape.dim % 8 != 0 || shape.dim_v % 8 != 0 ||
        std::max(shape.dim, shape.dim_v) > wgmma::kMostChannels)
      return "kernel wgmma needs dims that are multiples of 8 up to 128; got " +
             std::to_string(shape.dim) + " and " + std::to_string(shape.dim_v);
    if (shape.q_heads > 65535 || shape.batch > 65535)
      return "kernel wgmma takes at most 65535 heads and batch entries";
    if (const auto* gpu = at::cuda::getDeviceProperties(shape.device.index()); gpu->major != 9)
      return std::string("kernel wgmma needs a Hopper GPU (compute capability 9.0), not ") +
             gpu->name;
    return std::nullopt;
  }

  Partial forward(const QBlock& q, const KvBlock& kv, const Mask& mask,
                  double scale) const override {
    const c10::cuda::CUDAGuard device(q.q.device());
    const auto list = strips(mask, q.positions, kv.positions);
    auto sizes = q.q.sizes().vec();
    sizes.back() = kv.shape.dim_v;
    const Partial result = every_row(list, q.q.size(2)) ? unset(sizes, q.q.options())
                                                        : Partial::identity(sizes, q.q.options());
    const at::Tensor queries = upright(q.q, scale), k = ready(kv.k()), v = ready(kv.v());
    for (const Strip& strip : list)
      wgmma::forward(shape_of(strip, queries, k, v, scale),
                     {from(queries, strip.row), from(k, strip.column), from(v, strip.column),
                      from(result.out, strip.row), result.lse.mutable_data_ptr<float>() + strip.row,
                      static_cast<int>(q.q.size(2))},
                     at::cuda::getCurrentCUDAStream());
    return result;
  }

  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Mask& mask,
                     double scale) const override {
    const c10::cuda::CUDAGuard device(q.q.device());
    auto list = strips(mask, q.positions, kv.positions);
    // A strip of all keys comes first, if there is one: the others add to what it wrote.
    const auto all = std::find_if(list.begin(), list.end(), [&](const Strip& strip) {
      return strip.columns == kv.k().size(2);
    });
    const bool written = all != list.end();
    if (written) std::iter_swap(list.begin(), all);
    const auto filled = [&](const at::Tensor& x, bool later) {
      const auto options = x.options().dtype(at::kFloat);
      return later ? at::empty(x.sizes(), options) : at::zeros(x.sizes(), options);
    };
    const Gradients sum{filled(q.q, every_row(list, q.q.size(2))), filled(kv.k(), written),
                        filled(kv.v(), written)};
    const at::Tensor queries = upright(q.q, scale), k = ready(kv.k()), v = ready(kv.v());
    const at::Tensor d_o = ready(saved.d_o);
    const at::Tensor lse = saved.lse.contiguous(), delta = saved.d.contiguous();
    for (const Strip& strip : list) {
      const auto shape = shape_of(strip, queries, k, v, scale);
      const at::Tensor stats = at::empty({wgmma::stats_floats(shape)}, sum.dq.options());
      wgmma::backward(shape,
                      {from(queries, strip.row), from(k, strip.column), from(v, strip.column),
                       from(d_o, strip.row), from(sum.dq, strip.row), from(sum.dk, strip.column),
                       from(sum.dv, strip.column), lse.const_data_ptr<float>() + strip.row,
                       delta.const_data_ptr<float>() + strip.row, static_cast<int>(q.q.size(2)),
                       stats.mutable_data_ptr<float>(), !written || &strip != list.data()},
                      at::cuda::getCurrentCUDAStream());
    }
    if (scale < 0) sum.dq.neg_();
    return sum;
  }

  int64_t workspace_bytes(const BlockShape& shape) const override {
    const int64_t rows = shape.batch * shape.q_heads * count(shape.queries);
    const int64_t slots = shape.batch * shape.kv_heads * count(shape.keys);
    const int64_t stats = 4 * (rows + 128 * shape.batch * shape.q_heads);  // LSE, D, two copies
    return 4 * stats + 2 * (rows + slots) * (shape.dim + shape.dim_v) + (16 << 20);
  }

 private:
  // The scale is not below 0 in the kernel, whose hidden scores are -inf: its sign goes into q, and
  // out of dQ.
  static at::Tensor upright(const at::Tensor& q, double scale) {
    return ready(scale < 0 ? q.neg() : q);
  }
  static Partial unset(std::vector<int64_t> sizes, const at::TensorOptions& options) {
    const auto wide = options.dtype(at::kFloat);
    const at::Tensor out = at::empty(sizes, wide);
    sizes.pop_back();
    return {out, at::empty(sizes, wide)};
  }
};

const CudaKernels::Add registered{"wgmma", {std::make_shared<Wgmma>()}};

}  // namespace
}  // namespace ringcheck
