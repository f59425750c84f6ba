// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <cmath>

#include "cp/cuda_library.h"
#include "kernels/cuda/cudnn_graph.h"
#include "kernels/strip_kernel.h"

namespace ringcheck {
namespace {

// cuDNN through its own C++ interface: GQA, bands and causal from the bottom right. Its LSE is
// natural. Gradients leave it in float32: what is rounded once a block is only O.
class Cudnn final : public StripKernel {
 public:
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    if (shape.dtype != at::kBFloat16 && shape.dtype != at::kHalf)
      return std::string("kernel cudnn computes bf16 and fp16, not ") + c10::toString(shape.dtype);
    if (shape.dim % 8 != 0 || shape.dim_v % 8 != 0 || shape.dim > 128 || shape.dim_v > 128)
      return "kernel cudnn needs dim and dim_v in multiples of 8 up to 128; got " +
             std::to_string(shape.dim) + " and " + std::to_string(shape.dim_v);
    return std::nullopt;
  }

 protected:
  Partial attend(const Call& call) const override {
    auto sizes = call.q.sizes().vec();
    sizes.back() = call.v.size(3);
    const at::Tensor out = at::empty(sizes, call.q.options());
    const at::Tensor lse =
        at::empty({sizes[0], sizes[1], sizes[2]}, call.q.options().dtype(at::kFloat));
    cudnn_forward({call.strip, std::abs(call.scale), upright(call.q, call.scale), call.k, call.v},
                  out, lse);
    return {out, lse};
  }

  // The rectangle before the diagonal and the square on it are faster apart.
  Gradients differentiate(const Call& call, const Saved& saved) const override {
    const int64_t before = call.strip.columns - call.strip.rows;
    if (call.strip.kind != Strip::Kind::kCausal || before == 0) return whole(call, saved);
    const Gradients rectangle = whole(columns(call, Strip::Kind::kFull, 0, before), saved);
    const Gradients square =
        whole(columns(call, Strip::Kind::kCausal, before, call.strip.rows), saved);
    return {rectangle.dq + square.dq, at::cat({rectangle.dk, square.dk}, 2),
            at::cat({rectangle.dv, square.dv}, 2)};
  }

 private:
  // A negative scale would turn the -inf of hidden keys round: it goes into the sign of q and dq.
  static at::Tensor upright(const at::Tensor& q, double scale) { return scale < 0 ? q.neg() : q; }

  static Call columns(const Call& call, Strip::Kind kind, int64_t begin, int64_t size) {
    Call part = call;
    part.strip = {kind, call.strip.row, call.strip.rows, call.strip.column + begin, size, 0};
    part.k = call.k.narrow(2, begin, size);
    part.v = call.v.narrow(2, begin, size);
    return part;
  }

  // float32 results exist for as many key-value heads as query heads only: the members of a query
  // group are made the batch, and share K and V by a batch stride of 0.
  static Gradients whole(const Call& call, const Saved& saved) {
    const int64_t kv_heads = call.k.size(1), group = call.q.size(1) / kv_heads;
    const auto wide = call.q.options().dtype(at::kFloat);
    const Gradients sum{at::empty(call.q.sizes(), wide), at::empty(call.k.sizes(), wide),
                        at::empty(call.v.sizes(), wide)};
    const at::Tensor q = upright(call.q, call.scale);
    for (int64_t b = 0; b < call.q.size(0); ++b) {
      // [q_heads, ...] as [group, kv_heads, ...]
      const auto members = [&](const at::Tensor& x) {
        return x[b].unflatten(0, {kv_heads, group}).transpose(0, 1);
      };
      const auto shared = [&](const at::Tensor& x) {
        return x[b].unsqueeze(0).expand({group, -1, -1, -1});
      };
      const at::Tensor dk = at::empty({group, kv_heads, call.k.size(2), call.k.size(3)}, wide);
      const at::Tensor dv = at::empty({group, kv_heads, call.v.size(2), call.v.size(3)}, wide);
      cudnn_backward({call.strip, std::abs(call.scale), members(q), shared(call.k), shared(call.v)},
                     {members(saved.o), members(saved.lse).contiguous(), members(saved.d_o)},
                     {members(sum.dq), dk, dv});
      sum.dk[b].copy_(dk.sum(0));
      sum.dv[b].copy_(dv.sum(0));
    }
    if (call.scale < 0) sum.dq.neg_();
    return sum;
  }
};

const CudaKernels::Add registered{"cudnn", {std::make_shared<Cudnn>()}};

}  // namespace
}  // namespace ringcheck
