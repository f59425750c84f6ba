// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "cp/attention/attention_kernel.h"
#include "cp/device/cuda_library.h"
#include "kernels/cuda/cudnn_graph.h"
#include "kernels/strip_kernel.h"

namespace ringcheck {
namespace {

// cuDNN's attention through LibTorch. It knows causal from the top left only, so only squares on
// the diagonal; key-value heads are expanded where LibTorch refuses GQA.
class AtenCudnn final : public StripKernel {
 public:
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    if (auto refused = cudnn_refuses("aten-cudnn", shape)) return refused;
    for (const Strip& strip : shape.visibility.strips())
      if (strip.kind == Strip::Kind::kBand ||
          (strip.kind != Strip::Kind::kFull && strip.rows != strip.columns))
        return "kernel aten-cudnn knows full blocks and squares on the diagonal only; use kernel "
               "cudnn, fa2 or tiled for this mask and balancer";
      else if (strip.rows == 1 && strip.columns == 1)
        return "kernel aten-cudnn does not compute one query with one key; use kernel fa2 or tiled";
    return std::nullopt;
  }

 protected:
  Partial attend(const Call& call) const override {
    const int64_t group = call.q.size(1) / call.k.size(1);
    const auto result = at::_scaled_dot_product_cudnn_attention(
        call.q, expanded(call.k, group), expanded(call.v, group), {}, true, 0.0,
        causal(call.strip), false, call.scale);
    return {std::get<0>(result), std::get<1>(result).reshape({call.q.size(0), call.q.size(1), -1})};
  }

  Gradients differentiate(const Call& call, const Saved& saved) const override {
    const int64_t group = call.q.size(1) / call.k.size(1);
    const at::Tensor none, random = at::zeros({}, call.q.options().dtype(at::kLong));
    const auto [dq, dk, dv] = at::_scaled_dot_product_cudnn_attention_backward(
        saved.d_o.contiguous(), call.q, expanded(call.k, group), expanded(call.v, group),
        saved.o.contiguous(), saved.lse.unsqueeze(-1).contiguous(), random, random, none, none,
        none, call.strip.rows, call.strip.columns, 0.0, causal(call.strip), call.scale);
    return {dq, summed(dk, group), summed(dv, group)};
  }

 private:
  static bool causal(const Strip& strip) { return strip.kind == Strip::Kind::kCausal; }
  static at::Tensor expanded(const at::Tensor& x, int64_t group) {
    return group == 1 ? x : x.repeat_interleave(group, 1);
  }
  static at::Tensor summed(const at::Tensor& x, int64_t group) {
    return group == 1 ? x : x.to(at::kFloat).unflatten(1, {-1, group}).sum(2);
  }
};

const CudaKernels::Add registered{"aten-cudnn", {std::make_shared<AtenCudnn>()}};

}  // namespace
}  // namespace ringcheck
