// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "cp/attention/attention_kernel.h"
#include "cp/device/cuda_library.h"
#include "kernels/cuda/cudnn_graph.h"
#include "kernels/rows.h"
#include "kernels/strip_kernel.h"

namespace ringcheck {
namespace {

// cuDNN through its own C++ interface: GQA, bands and causal from the bottom right. Its LSE is
// natural. O and the gradients leave it in the dtype of q: asked for float32, cuDNN 9.19 accepts
// the graph and writes 16-bit numbers into the results.
class Cudnn final : public StripKernel {
 public:
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    if (shape.dtype != at::kBFloat16 && shape.dtype != at::kHalf)
      return std::string("kernel cudnn computes bf16 and fp16, not ") + c10::toString(shape.dtype);
    if (shape.dim % 8 != 0 || shape.dim_v % 8 != 0 || shape.dim > 128 || shape.dim_v > 128)
      return "kernel cudnn needs dim and dim_v in multiples of 8 up to 128; got " +
             std::to_string(shape.dim) + " and " + std::to_string(shape.dim_v);
    for (const Strip& strip : shape.visibility.strips())
      if (strip.rows == 1 && strip.columns == 1)
        return "kernel cudnn does not compute one query with one key; use kernel fa2 or tiled";
    return std::nullopt;
  }

  // The deterministic backward pass keeps all of dS, in 16 bits and whole tiles.
  CallBytes call_bytes(const BlockShape& shape) const override {
    CallBytes bytes = StripKernel::call_bytes(shape);
    bytes.backward += 2 * shape.batch * shape.q_heads *
                      whole_tiles(count(shape.visibility.queries()), kTile) *
                      whole_tiles(count(shape.visibility.keys()), kTile);
    return bytes;
  }

 protected:
  Partial attend(const Call& call) const override {
    auto sizes = call.q.sizes().vec();
    sizes.back() = call.v.size(3);
    const at::Tensor out = at::empty(sizes, call.q.options());
    const at::Tensor lse =
        at::empty({sizes[0], sizes[1], sizes[2]}, call.q.options().dtype(at::kFloat));
    cudnn_forward({call.strip, call.scale, call.q, call.k, call.v}, out, lse);
    return {out, lse};
  }

  // The rectangle before the diagonal and the square on it are faster apart.
  Gradients differentiate(const Call& call, const Saved& saved) const override {
    const int64_t before = call.strip.columns - call.strip.rows;
    if (call.strip.kind != Strip::Kind::kCausal || before == 0) return whole(call, saved);
    const Gradients rectangle = whole(columns(call, Strip::Kind::kFull, 0, before), saved);
    const Gradients square =
        whole(columns(call, Strip::Kind::kCausal, before, call.strip.rows), saved);
    return {rectangle.dq.to(at::kFloat) + square.dq, at::cat({rectangle.dk, square.dk}, 2),
            at::cat({rectangle.dv, square.dv}, 2)};
  }

 private:
  static constexpr int64_t kTile = 128;

  // With the strides of its sizes, also where a size is 1 and contiguous() would leave any.
  static at::Tensor packed(const at::Tensor& x) {
    return at::empty(x.sizes(), x.options()).copy_(x);
  }

  static Call columns(const Call& call, Strip::Kind kind, int64_t begin, int64_t size) {
    Call part = call;
    part.strip = {kind, call.strip.row, call.strip.rows, call.strip.column + begin, size, 0};
    part.k = call.k.narrow(2, begin, size);
    part.v = call.v.narrow(2, begin, size);
    return part;
  }

  static Gradients whole(const Call& call, const Saved& saved) {
    return by_members(call, saved, [](const Call& each, const Saved& its) {
      const auto like = [&](const at::Tensor& x) { return at::empty(x.sizes(), x.options()); };
      const Gradients result{like(each.q), like(each.k), like(each.v)};
      cudnn_backward({each.strip, each.scale, each.q, each.k, each.v},
                     {its.o, packed(its.lse), its.d_o}, {result.dq, result.dk, result.dv});
      return result;
    });
  }
};

const CudaKernels::Add registered{"cudnn", {std::make_shared<Cudnn>()}};

}  // namespace
}  // namespace ringcheck
