// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <cmath>

#include "cp/attention/attention_kernel.h"
#include "cp/device/cuda_library.h"
#include "kernels/cuda/wgmma_launch.h"
#include "kernels/rows.h"
#include "kernels/upright.h"

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

wgmma::Matrix matrix(const at::Tensor& x) {
  return {x.data_ptr(), x.stride(0), x.stride(1), x.stride(2)};
}

wgmma::Part part(const Strip& strip) {
  const auto number = [](int64_t n) { return static_cast<int>(n); };
  wgmma::Part part{number(strip.row), number(strip.rows), number(strip.column),
                   number(strip.columns)};
  using Kind = Strip::Kind;
  // The last query sees the last column.
  if (strip.kind == Kind::kCausal || strip.kind == Kind::kBand)
    part.upper = number(strip.column + strip.columns - strip.row - strip.rows);
  if (strip.kind == Kind::kMirrored || strip.kind == Kind::kBand) part.lower = number(strip.column - strip.row);
  return part;
}

wgmma::Shape shape_of(const std::vector<Strip>& list, const at::Tensor& q, const at::Tensor& k,
                      const at::Tensor& v, double scale) {
  const auto size = [](const at::Tensor& x, int dim) { return static_cast<int>(x.size(dim)); };
  wgmma::Shape shape{q.scalar_type() == at::kBFloat16,
                     size(q, 0), size(q, 1), size(k, 1), size(q, 2), size(k, 2), size(q, 3),
                     size(v, 3), static_cast<float>(std::abs(scale)), {}};
  for (const Strip& strip : list) shape.parts.push_back(part(strip));
  return shape;
}

// Our own kernel for Hopper's tensor cores: 16-bit inputs, float32 partial results, no atomics.
class Wgmma final : public AttentionKernel {
 public:
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    if (shape.dtype != at::kBFloat16 && shape.dtype != at::kHalf)
      return std::string("kernel wgmma computes bf16 and fp16, not ") + c10::toString(shape.dtype);
    if (shape.dim % 8 != 0 || shape.dim_v % 8 != 0 ||
        std::max(shape.dim, shape.dim_v) > wgmma::kMostChannels)
      return "kernel wgmma needs dims that are multiples of 8 up to " + std::to_string(wgmma::kMostChannels) + "; got " +
             std::to_string(shape.dim) + " and " + std::to_string(shape.dim_v);
    if (shape.q_heads > 65535 || shape.batch > 65535)
      return "kernel wgmma takes at most 65535 heads and batch entries";
    if (const auto* gpu = at::cuda::getDeviceProperties(shape.device.index()); gpu->major != 9)
      return std::string("kernel wgmma needs a Hopper GPU (compute capability 9.0), not ") +
             gpu->name;
    return std::nullopt;
  }

  Partial forward(const QBlock& q, const KvBlock& kv, const Scores& scores,
                  const Visibility& visibility) const override {
    const c10::cuda::CUDAGuard device(q.q.device());
    const std::vector<Strip>& list = visibility.strips();
    auto sizes = q.q.sizes().vec();
    sizes.back() = kv.shape.dim_v;
    const Partial result = partial_for(list, sizes, q.q.options());
    if (list.empty()) return result;
    const at::Tensor queries = ready(upright(q.q, scores.scale)), k = ready(kv.k()), v = ready(kv.v());
    wgmma::forward(shape_of(list, queries, k, v, scores.scale),
                   {matrix(queries), matrix(k), matrix(v), matrix(result.out),
                    result.lse.mutable_data_ptr<float>()},
                   at::cuda::getCurrentCUDAStream());
    return result;
  }

  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Scores& scores,
                     const Visibility& visibility) const override {
    const c10::cuda::CUDAGuard device(q.q.device());
    const std::vector<Strip>& list = visibility.strips();
    const auto wide = q.q.options().dtype(at::kFloat);
    if (list.empty())
      return {at::zeros(q.q.sizes(), wide), at::zeros(kv.k().sizes(), wide),
              at::zeros(kv.v().sizes(), wide)};
    const Gradients sum{query_gradient_for(list, q.q), at::empty(kv.k().sizes(), wide), at::empty(kv.v().sizes(), wide)};
    const at::Tensor queries = ready(upright(q.q, scores.scale)), k = ready(kv.k()), v = ready(kv.v());
    const at::Tensor d_o = ready(saved.d_o);
    const at::Tensor lse = saved.lse.contiguous(), delta = saved.d.contiguous();
    wgmma::backward(shape_of(list, queries, k, v, scores.scale),
                    {matrix(queries), matrix(k), matrix(v), matrix(d_o), matrix(sum.dq),
                     matrix(sum.dk), matrix(sum.dv), lse.const_data_ptr<float>(),
                     delta.const_data_ptr<float>()},
                    at::cuda::getCurrentCUDAStream());
    if (scores.scale < 0) sum.dq.neg_();
    return sum;
  }

  CallBytes call_bytes(const BlockShape& shape) const override {
    const int64_t rows = shape.batch * shape.q_heads * count(shape.visibility.queries());
    const int64_t slots = shape.batch * shape.kv_heads * count(shape.visibility.keys());
    // Copies of what is not laid out for the copy engine, of an upright q, of LSE and D.
    return result_bytes(
        shape, 2 * (rows + slots) * (shape.dim + shape.dim_v) + 8 * rows);
  }
};

const CudaKernels::Add registered{"wgmma", {std::make_shared<Wgmma>()}};

}  // namespace
}  // namespace ringcheck
