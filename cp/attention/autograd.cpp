// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/autograd.h"

#include <torch/csrc/autograd/custom_function.h>

namespace ringcheck {
namespace {

struct Kept : torch::CustomClassHolder {
  std::shared_ptr<ContextParallel> attention;
  ContextParallel::Context context;
};

class Attention : public torch::autograd::Function<Attention> {
 public:
  // What it keeps must not be what it returns, whose history would then keep itself alive.
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx,
                                                const at::Tensor& q, const at::Tensor& k,
                                                const at::Tensor& v,
                                                const std::shared_ptr<ContextParallel>& attention) {
    auto kept = c10::make_intrusive<Kept>();
    kept->attention = attention;
    kept->context = attention->forward(q, k, v);
    const at::Tensor o = kept->context.o.alias(), lse = kept->context.lse.alias();
    ctx->saved_data["kept"] = c10::IValue::make_capsule(std::move(kept));
    ctx->mark_non_differentiable({lse});
    return {o, lse};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& d_o) {
    const auto capsule = ctx->saved_data["kept"].toCapsule();
    auto& kept = static_cast<Kept&>(*capsule);
    const Gradients gradients = kept.attention->backward(kept.context, d_o[0].contiguous());
    return {gradients.dq, gradients.dk, gradients.dv, at::Tensor()};
  }
};

}  // namespace

AttentionOutput context_parallel_attention(const at::Tensor& q, const at::Tensor& k,
                                           const at::Tensor& v,
                                           const std::shared_ptr<ContextParallel>& attention) {
  const torch::autograd::variable_list outputs = Attention::apply(q, k, v, attention);
  return {outputs[0], outputs[1]};
}

}  // namespace ringcheck
