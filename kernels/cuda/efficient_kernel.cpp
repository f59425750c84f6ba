// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "cp/attention/attention_kernel.h"
#include "cp/device/cuda_library.h"
#include "kernels/rows.h"
#include "kernels/strip_kernel.h"

namespace ringcheck {
namespace {

at::Tensor turned(const at::Tensor& x) { return x.transpose(1, 2); }
at::Tensor expanded(const at::Tensor& x, int64_t group) {
  return turned(group == 1 ? x : x.repeat_interleave(group, 1));
}
at::Tensor summed(const at::Tensor& x, int64_t group, at::ScalarType wide) {
  const at::Tensor by_head = turned(x).to(wide);
  return group == 1 ? by_head : by_head.unflatten(1, {-1, group}).sum(2);
}

// Memory-efficient attention as LibTorch brings it (Rabe and Staats 2021, xFormers), for float32:
// LibTorch has no other tensor-core kernel for it. Its LSE is natural, padded to whole blocks. Its
// backward pass takes O as [batch, seq, heads, dim] without asking for its strides.
class Efficient final : public StripKernel {
 public:
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    if (shape.dtype != at::kFloat)
      return std::string("kernel efficient computes float32, not ") + c10::toString(shape.dtype) +
             "; use kernel cudnn or fa2";
    if (shape.dim % 4 != 0 || shape.dim_v % 4 != 0)
      return "kernel efficient needs dim and dim_v in multiples of 4; got " +
             std::to_string(shape.dim) + " and " + std::to_string(shape.dim_v);
    for (const Strip& strip : shape.visibility.strips())
      if (strip.kind == Strip::Kind::kBand)
        return "kernel efficient does not compute windows: its backward pass leaves them out; use "
               "kernel tiled";
    return std::nullopt;
  }

  // The backward pass adds up gradients in float32 tiles of its own (LibTorch's kernel_backward.h:
  // workspace_elements_gq, _gk and _gv).
  CallBytes call_bytes(const BlockShape& shape) const override {
    CallBytes bytes = StripKernel::call_bytes(shape);
    const int64_t rows = whole_tiles(count(shape.visibility.queries()), kTile);
    const int64_t slots = whole_tiles(count(shape.visibility.keys()), kTile);
    const int64_t dim = whole_tiles(shape.dim, kTile), dim_v = whole_tiles(shape.dim_v, kTile);
    bytes.backward += 4 * shape.batch * shape.q_heads * (rows * dim + slots * (dim + dim_v));
    return bytes;
  }

 protected:
  static constexpr int64_t kTile = 64;

  Partial attend(const Call& call) const override {
    const int64_t group = call.q.size(1) / call.k.size(1);
    const auto result = at::_efficient_attention_forward(
        turned(call.q), expanded(call.k, group), expanded(call.v, group), {}, {}, {},
        call.strip.rows, call.strip.columns, 0.0, mask_type(call.strip), true, call.scale);
    return {turned(std::get<0>(result)), std::get<1>(result).narrow(2, 0, call.strip.rows)};
  }

  Gradients differentiate(const Call& call, const Saved& saved) const override {
    const int64_t group = call.q.size(1) / call.k.size(1);
    const at::ScalarType wide = accumulation_type(call.q.scalar_type());
    const auto [dq, dk, dv, bias] = at::_efficient_attention_backward(
        turned(saved.d_o), turned(call.q), expanded(call.k, group), expanded(call.v, group), {},
        turned(saved.o).contiguous(), {}, {}, call.strip.rows, call.strip.columns,
        padded(saved.lse), 0.0, at::zeros({}, at::kLong), at::zeros({}, at::kLong), mask_type(call.strip), false,
        call.scale);
    return {turned(dq), summed(dk, group, wide), summed(dv, group, wide)};
  }

 private:
  // 0: none, 1: causal from the top left, 2: from the bottom right.
  static int64_t mask_type(const Strip& strip) { return strip.kind == Strip::Kind::kFull ? 0 : 2; }
  static at::Tensor padded(const at::Tensor& lse) {
    const int64_t rows = lse.size(2), whole = (rows + 31) / 32 * 32;
    return at::constant_pad_nd(lse, {0, whole - rows}, INFINITY).contiguous();
  }
};

const CudaKernels::Add registered{"efficient", {std::make_shared<Efficient>()}};

}  // namespace
}  // namespace ringcheck
