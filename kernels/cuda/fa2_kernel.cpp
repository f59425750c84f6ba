// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>

#include "cp/attention/attention_kernel.h"
#include "cp/device/cuda_library.h"
#include "kernels/rows.h"
#include "kernels/strip_kernel.h"

namespace ringcheck {
namespace {

// [batch, heads, seq, dim] <-> [batch, seq, heads, dim], as this library wants it.
at::Tensor turned(const at::Tensor& x) { return x.transpose(1, 2); }

// FlashAttention 2 as LibTorch brings it (Dao 2023): GQA without expansion, causal from the bottom
// right. Its LSE is natural, [batch, heads, queries]. Results are 16 bit: its contract says so.
class Fa2 final : public StripKernel {
 public:
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    if (shape.dtype != at::kBFloat16 && shape.dtype != at::kHalf)
      return std::string("kernel fa2 computes bf16 and fp16, not ") + c10::toString(shape.dtype);
    if (shape.dim != shape.dim_v || shape.dim % 8 != 0 || shape.dim > 256)
      return "kernel fa2 needs dim = dim_v, a multiple of 8 up to 256; got " +
             std::to_string(shape.dim) + " and " + std::to_string(shape.dim_v);
    return std::nullopt;
  }

  // The deterministic backward pass adds up dQ in as many float32 terms as there are multiprocessors
  // for a head (flash-attention's flash_api.cpp: dq_accum, softmax_d).
  CallBytes call_bytes(const BlockShape& shape) const override {
    CallBytes bytes = StripKernel::call_bytes(shape);
    const int64_t heads = shape.q_heads == shape.kv_heads ? shape.batch * shape.q_heads : shape.q_heads;
    const int64_t processors = at::cuda::getDeviceProperties(shape.device.index())->multiProcessorCount;
    const int64_t terms = (processors + heads - 1) / heads;
    const int64_t rows = whole_tiles(count(shape.visibility.queries()), 128);
    bytes.backward += 4 * heads * rows * (terms * whole_tiles(shape.dim, shape.dim > 128 ? 64 : 32) + 1);
    return bytes;
  }

 protected:
  Partial attend(const Call& call) const override {
    const auto [out, lse, seed, offset, debug] = at::_flash_attention_forward(
        turned(call.q), turned(call.k), turned(call.v), {}, {}, call.strip.rows,
        call.strip.columns, 0.0, causal(call.strip), false, call.scale, left(call.strip),
        right(call.strip));
    return {turned(out), lse};
  }

  Gradients differentiate(const Call& call, const Saved& saved) const override {
    return by_members(call, saved, [](const Call& each, const Saved& its, const at::Tensor& into) -> Gradients {
      const at::Tensor none, random = at::zeros({2}, each.q.options().dtype(at::kLong));
      const auto [dq, dk, dv] = at::_flash_attention_backward(
          turned(its.d_o), turned(each.q), turned(each.k), turned(each.v), turned(its.o),
          its.lse.contiguous(), none, none, each.strip.rows, each.strip.columns, 0.0,
          causal(each.strip), random, random, each.scale, left(each.strip), right(each.strip));
      return {into.defined() ? into.copy_(turned(dq)) : turned(dq), turned(dk), turned(dv)};
    });
  }

 private:
  static bool causal(const Strip& strip) { return strip.kind == Strip::Kind::kCausal; }
  // A window reaches from the diagonal of the bottom right corner.
  static std::optional<int64_t> left(const Strip& strip) {
    return strip.kind == Strip::Kind::kBand ? std::optional(strip.width - 1) : std::nullopt;
  }
  static std::optional<int64_t> right(const Strip& strip) {
    return strip.kind == Strip::Kind::kBand ? std::optional<int64_t>(0) : std::nullopt;
  }
};

const CudaKernels::Add registered{"fa2", {std::make_shared<Fa2>()}};

}  // namespace
}  // namespace ringcheck
