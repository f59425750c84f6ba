// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cudnn_graph.h"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cudnn/Handle.h>
#include <cudnn_frontend.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

namespace ringcheck {
namespace {

namespace fe = cudnn_frontend;
using Attributes = std::shared_ptr<fe::graph::Tensor_attributes>;

void check(fe::error_object status, const char* what) {
  if (status.is_bad())
    throw std::runtime_error(std::string("cuDNN: ") + what + ": " + status.get_message());
}

enum Name : int64_t { kQ = 1, kK, kV, kO, kLse, kDo, kDq, kDk, kDv };

// Tensors under the names that the graph knows them by.
using Named = std::map<int64_t, at::Tensor>;

struct Plan {
  std::shared_ptr<fe::graph::Graph> graph;
  int64_t workspace = 0;
};

// Everything that a graph depends on.
std::vector<int64_t> key_of(bool backward, bool repeats, const CudnnCall& call, const Named& tensors) {
  std::vector<int64_t> key{backward, repeats, call.q.device().index(),
                           static_cast<int64_t>(call.q.scalar_type()),
                           static_cast<int64_t>(call.strip.kind), call.strip.width,
                           std::bit_cast<int64_t>(call.scale)};
  for (const auto& [name, tensor] : tensors) {
    key.insert(key.end(), tensor.sizes().begin(), tensor.sizes().end());
    key.insert(key.end(), tensor.strides().begin(), tensor.strides().end());
  }
  return key;
}

fe::DataType_t type_of(const at::Tensor& x) {
  switch (x.scalar_type()) {
    case at::kHalf: return fe::DataType_t::HALF;
    case at::kBFloat16: return fe::DataType_t::BFLOAT16;
    default: return fe::DataType_t::FLOAT;
  }
}

class Builder {
 public:
  explicit Builder(const Named& tensors)
      : tensors_(tensors), graph_(std::make_shared<fe::graph::Graph>()) {
    graph_->set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
  }
  fe::graph::Graph& graph() { return *graph_; }

  Attributes input(Name name) {
    return graph_->tensor(fe::graph::Tensor_attributes()
                              .set_uid(name)
                              .set_dim(tensors_.at(name).sizes().vec())
                              .set_stride(tensors_.at(name).strides().vec())
                              .set_data_type(type_of(tensors_.at(name))));
  }
  void output(const Attributes& attributes, Name name) {
    attributes->set_output(true)
        .set_uid(name)
        .set_dim(tensors_.at(name).sizes().vec())
        .set_stride(tensors_.at(name).strides().vec())
        .set_data_type(type_of(tensors_.at(name)));
  }
  Plan build() {
    check(graph_->build(at::native::getCudnnHandle(), {fe::HeurMode_t::A}),
          "no engine for this shape");
    Plan plan{graph_, 0};
    check(graph_->get_workspace_size(plan.workspace), "workspace");
    return plan;
  }

 private:
  const Named& tensors_;
  std::shared_ptr<fe::graph::Graph> graph_;
};

// The part of the mask; a square on the diagonal is causal from either corner, and faster from the
// top left.
template <class Options>
void set_mask(Options& options, const Strip& strip) {
  if (strip.kind == Strip::Kind::kFull) return;
  const bool square = strip.kind == Strip::Kind::kCausal && strip.rows == strip.columns;
  options.set_diagonal_alignment(square ? fe::DiagonalAlignment_t::TOP_LEFT
                                        : fe::DiagonalAlignment_t::BOTTOM_RIGHT);
  options.set_diagonal_band_right_bound(0);
  if (strip.kind == Strip::Kind::kBand)
    options.set_diagonal_band_left_bound(static_cast<int>(strip.width));
}

Plan forward_plan(const CudnnCall& call, const Named& tensors) {
  Builder builder(tensors);
  auto options = fe::graph::SDPA_attributes().set_generate_stats(true).set_attn_scale(
      static_cast<float>(call.scale));
  set_mask(options, call.strip);
  const Attributes q = builder.input(kQ), k = builder.input(kK), v = builder.input(kV);
  const auto [out, lse] = builder.graph().sdpa(q, k, v, options);
  builder.output(out, kO);
  builder.output(lse, kLse);
  return builder.build();
}

Plan backward_plan(const CudnnCall& call, const Named& tensors, bool repeats) {
  Builder builder(tensors);
  auto options = fe::graph::SDPA_backward_attributes()
                     .set_deterministic_algorithm(repeats)
                     .set_attn_scale(static_cast<float>(call.scale));
  set_mask(options, call.strip);
  const Attributes q = builder.input(kQ), k = builder.input(kK), v = builder.input(kV);
  const Attributes o = builder.input(kO), d_o = builder.input(kDo), lse = builder.input(kLse);
  const auto [dq, dk, dv] = builder.graph().sdpa_backward(q, k, v, o, d_o, lse, options);
  builder.output(dq, kDq);
  builder.output(dk, kDk);
  builder.output(dv, kDv);
  return builder.build();
}

// Kept for the life of the process; plans of cuDNN may run on several threads at a time, and are made
// by as many: one takes 50 ms of a core.
template <class Make>
Plan cached(const std::vector<int64_t>& key, const Make& make) {
  struct Kept {
    std::once_flag once;
    Plan plan;
  };
  static std::mutex mutex;
  static std::map<std::vector<int64_t>, Kept> plans;
  Kept* kept = nullptr;
  {
    const std::lock_guard lock(mutex);
    kept = &plans[key];
  }
  std::call_once(kept->once, [&] { kept->plan = make(); });
  return kept->plan;
}

void execute(const Plan& plan, const Named& tensors) {
  std::unordered_map<int64_t, void*> pointers;
  for (const auto& [name, tensor] : tensors) pointers[name] = tensor.data_ptr();
  const at::Tensor workspace =
      at::empty({plan.workspace}, tensors.at(kQ).options().dtype(at::kByte));
  check(plan.graph->execute(at::native::getCudnnHandle(), pointers, workspace.data_ptr()),
        "execution");
}

}  // namespace

std::optional<std::string> cudnn_refuses(const std::string& kernel, const BlockShape& shape) {
  if (shape.dtype != at::kBFloat16 && shape.dtype != at::kHalf)
    return "kernel " + kernel + " computes bf16 and fp16, not " + c10::toString(shape.dtype);
  const int64_t most = at::cuda::getDeviceProperties(shape.device.index())->major == 9 ? 256 : 128;
  if (shape.dim % 8 == 0 && shape.dim_v % 8 == 0 && std::max(shape.dim, shape.dim_v) <= most) return std::nullopt;
  return "kernel " + kernel + " needs dim and dim_v in multiples of 8 up to " + std::to_string(most) + " on this GPU; got " +
         std::to_string(shape.dim) + " and " + std::to_string(shape.dim_v);
}

void cudnn_forward(const CudnnCall& call, const at::Tensor& out, const at::Tensor& lse) {
  const Named tensors{
      {kQ, call.q}, {kK, call.k}, {kV, call.v}, {kO, out}, {kLse, lse.unsqueeze(-1)}};
  execute(cached(key_of(false, true, call, tensors), [&] { return forward_plan(call, tensors); }),
          tensors);
}

void cudnn_backward(const CudnnCall& call, const CudnnSaved& saved, const CudnnGradients& result,
                    bool repeats) {
  const Named tensors{{kQ, call.q},   {kK, call.k},     {kV, call.v},
                      {kO, saved.o},  {kDo, saved.d_o}, {kLse, saved.lse.unsqueeze(-1)},
                      {kDq, result.dq}, {kDk, result.dk}, {kDv, result.dv}};
  execute(cached(key_of(true, repeats, call, tensors), [&] { return backward_plan(call, tensors, repeats); }),
          tensors);
}

}  // namespace ringcheck
