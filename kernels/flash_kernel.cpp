// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <cmath>

#include "cp/attention/attention_kernel.h"
#include "cp/ledger/computed.h"
#include "kernels/flash_memory.h"
#include "kernels/upright.h"

namespace ringcheck {
namespace {

// What the block looks like to a kernel that knows "full", "causal from the top left" and an
// additive mask.
struct View {
  bool causal = false;
  std::optional<at::Tensor> additive;  // [1, 1, queries, keys]
  at::Tensor sees_nothing;             // [queries, 1]
};

// LibTorch's kernel skips nothing that an additive mask hides; what it skips of a causal block it
// does not say.
void count_whole_block(const at::Tensor& q, const KvBlock& kv) {
  add_computed(q.size(0) * q.size(1) * q.size(2) * kv.shape.slots);
}

bool causal(const Visibility& visibility) {
  const int64_t rows = count(visibility.queries());
  return visibility.keys().ascending() && rows == count(visibility.keys()) &&
         visibility.strips() == std::vector<Strip>{{Strip::Kind::kCausal, 0, rows, 0, rows}};
}

// Of a block that is not empty.
View view_of(const Visibility& visibility, at::ScalarType type) {
  View view;
  if (visibility.full()) return view;
  const int64_t rows = count(visibility.queries()), slots = count(visibility.keys());
  view.causal = causal(visibility);
  if (view.causal) return view;
  const Tile seen = visibility.tile(0, rows);
  const at::Tensor visible = at::zeros({rows, slots}, at::kBool);
  const at::Tensor shown = visible.narrow(1, seen.columns.begin, seen.columns.size());
  if (seen.visible.empty()) shown.fill_(true);
  else shown.copy_(at::tensor(at::ArrayRef<uint8_t>(seen.visible), at::kByte).view({rows, -1}));
  view.sees_nothing = visible.any(1, true).logical_not();
  view.additive = at::zeros({1, 1, rows, slots}, at::TensorOptions(type))
                      .masked_fill_(visible.logical_not(), -INFINITY);
  return view;
}

// PyTorch's flash attention for CPUs. Forward it rounds P and the partial O to the dtype of its
// inputs, as its contract says. Its backward pass would add up dK and dV in that dtype, query tile
// by query tile, which no merge can repair: 16-bit inputs are widened for it.
class Flash final : public AttentionKernel {
 public:
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    if (!shape.device.is_cpu()) return "kernel flash runs on the CPU only";
    if (!is_floating(shape.dtype))
      return std::string("kernel flash computes float64, float32, bf16 and fp16, not ") +
             c10::toString(shape.dtype);
    if (shape.dim != shape.dim_v)
      return "kernel flash needs dim = dim_v, got " + std::to_string(shape.dim) + " and " +
             std::to_string(shape.dim_v) + "; use kernel plain";
    return std::nullopt;
  }

  Partial forward(const QBlock& q, const KvBlock& kv, const Scores& scores,
                  const Visibility& visibility) const override {
    Partial result = Partial::identity(q.q.sizes(), q.q.options());
    if (visibility.empty()) return result;
    const View view = view_of(visibility, kv.shape.dtype);
    count_whole_block(q.q, kv);
    const int64_t group = q.q.size(1) / kv.shape.heads;
    const auto [out, lse] = at::_scaled_dot_product_flash_attention_for_cpu(
        upright(q.q, scores.scale), expanded(kv.k(), group), expanded(kv.v(), group), 0.0, view.causal,
        view.additive, strength(scores.scale));
    result.out.copy_(out);
    result.lse.copy_(lse);
    if (view.sees_nothing.defined()) {
      result.out.masked_fill_(view.sees_nothing, 0);
      result.lse.masked_fill_(view.sees_nothing.squeeze(-1), -INFINITY);
    }
    return result;
  }

  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Scores& scores,
                     const Visibility& visibility) const override {
    const at::ScalarType wide = accumulation_type(kv.shape.dtype);
    if (visibility.empty()) {
      const auto options = q.q.options().dtype(wide);
      return {at::zeros(q.q.sizes(), options), at::zeros(kv.k().sizes(), options),
              at::zeros(kv.v().sizes(), options)};
    }
    const at::Tensor k = kv.k().to(wide), v = kv.v().to(wide);
    const View view = view_of(visibility, wide);
    count_whole_block(q.q, kv);
    const int64_t group = q.q.size(1) / kv.shape.heads;
    const at::Tensor lse = saved.lse.masked_fill(saved.lse.isneginf(), INFINITY);
    const auto [dq, dk, dv] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        saved.d_o.to(wide), upright(q.q.to(wide), scores.scale), expanded(k, group), expanded(v, group),
        saved.o.to(wide), lse, 0.0, view.causal, view.additive, strength(scores.scale));
    return {upright(dq, scores.scale), summed(dk, group), summed(dv, group)};
  }

  bool takes_d() const override { return false; }
  std::optional<TileSize> tile_size() const override { return TileSize{}; }

  CallBytes call_bytes(const BlockShape& shape) const override {
    const CallBytes results = result_bytes(shape);
    if (shape.visibility.empty()) return results;
    const bool masked = !shape.visibility.full() && !causal(shape.visibility);
    const FlashMemory memory(shape, masked);
    return {results.forward + memory.forward(), memory.backward()};
  }

 private:
  static at::Tensor expanded(const at::Tensor& x, int64_t group) {
    return group == 1 ? x : x.repeat_interleave(group, 1);
  }
  static at::Tensor summed(const at::Tensor& x, int64_t group) {
    return group == 1 ? x : x.unflatten(1, {-1, group}).sum(2);
  }
};

const AttentionKernels::Add registered{"flash", std::make_shared<Flash>()};

}  // namespace
}  // namespace ringcheck
