// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/tiled_kernel.cuh"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

#include "cp/attention/attention_kernel.h"
#include "cp/device/cuda_library.h"
#include "cp/ledger/computed.h"

namespace ringcheck {
namespace {

constexpr int kMostChannels = 512;

template <class T>
struct Stored {
  using type = T;
};
template <>
struct Stored<at::Half> {
  using type = __half;
};
template <>
struct Stored<at::BFloat16> {
  using type = __nv_bfloat16;
};

template <class T>
tiled::View<T> view(const at::Tensor& x) {
  if (!x.defined()) return {};
  return {static_cast<T*>(x.data_ptr()), x.stride(0), x.stride(1), x.stride(2)};
}

at::Tensor dense(const at::Tensor& x) { return x.stride(-1) == 1 ? x : x.contiguous(); }

// What both passes have in common. The tensors outlive the launch.
template <class T, class A>
tiled::Problem<T, A> problem(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const SlotTensors& keys, double scale) {
  tiled::Problem<T, A> p{};
  p.q = view<const T>(q);
  p.k = view<const T>(k);
  p.v = view<const T>(v);
  p.begin = keys.begin.const_data_ptr<int32_t>();
  p.end = keys.end.const_data_ptr<int32_t>();
  p.scale = static_cast<A>(scale);
  p.batch = static_cast<int>(q.size(0));
  p.q_heads = static_cast<int>(q.size(1));
  p.group = static_cast<int>(q.size(1) / k.size(1));
  p.rows = static_cast<int>(q.size(2));
  p.columns = static_cast<int>(k.size(2));
  p.dim = static_cast<int>(q.size(3));
  p.dim_v = static_cast<int>(v.size(3));
  return p;
}

dim3 grid(int rows, int heads, int batch) {
  return dim3((rows + tiled::kWarps - 1) / tiled::kWarps, heads, batch);
}

template <class Kernel, class Problem>
void launch(Kernel kernel, dim3 blocks, size_t shared, const Problem& p) {
  if (blocks.x == 0) return;
  kernel<<<blocks, dim3(tiled::kWarp, tiled::kWarps), shared,
           at::cuda::getCurrentCUDAStream().stream()>>>(p);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <int N, class T, class A>
void launch_forward(const tiled::Problem<T, A>& p) {
  launch(tiled::forward_kernel<N, T, A>, grid(p.rows, p.q_heads, p.batch),
         sizeof(A) * tiled::kWarps * p.dim, p);
}

template <int N, class T, class A>
void launch_backward(const tiled::Problem<T, A>& p) {
  const size_t shared = sizeof(A) * tiled::kWarps * (p.dim + p.dim_v);
  launch(tiled::dq_kernel<N, T, A>, grid(p.rows, p.q_heads, p.batch), shared, p);
  launch(tiled::dkv_kernel<N, T, A>, grid(p.columns, p.q_heads / p.group, p.batch), shared, p);
}

// As few channels a lane as hold all of them.
template <class Use>
void with_channels(int64_t dim, const Use& use) {
  if (dim <= 2 * tiled::kWarp) return use(std::integral_constant<int, 2>());
  if (dim <= 4 * tiled::kWarp) return use(std::integral_constant<int, 4>());
  if (dim <= 8 * tiled::kWarp) return use(std::integral_constant<int, 8>());
  return use(std::integral_constant<int, kMostChannels / tiled::kWarp>());
}

template <class Use>
void with_types(at::ScalarType dtype, const Use& use) {
  switch (dtype) {
    case at::kDouble: return use(double(), double());
    case at::kFloat: return use(float(), float());
    case at::kHalf: return use(Stored<at::Half>::type(), float());
    default: return use(Stored<at::BFloat16>::type(), float());
  }
}

// Each query is given its own keys, and no other.
void count_pairs(const at::Tensor& q, const Visibility& visibility) {
  add_computed(q.size(0) * q.size(1) * visibility.pairs());
}

// Any mask, any positions, any dtype: the kernel that every other one can be compared with on a
// GPU. A warp computes a row; sums run over the keys in ascending order.
class Tiled final : public AttentionKernel {
 public:
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    if (!is_floating(shape.dtype))
      return std::string("kernel tiled computes float64, float32, bf16 and fp16, not ") +
             c10::toString(shape.dtype);
    if (std::max(shape.dim, shape.dim_v) > kMostChannels)
      return "kernel tiled computes dims up to " + std::to_string(kMostChannels) + ", got " +
             std::to_string(shape.dim) + " and " + std::to_string(shape.dim_v);
    if (shape.q_heads > 65535 || shape.batch > 65535)
      return "kernel tiled takes at most 65535 heads and batch entries";
    return std::nullopt;
  }

  Partial forward(const QBlock& q, const KvBlock& kv, const Scores& scores,
                  const Visibility& visibility) const override {
    const c10::cuda::CUDAGuard device(q.q.device());
    auto sizes = q.q.sizes().vec();
    sizes.back() = kv.shape.dim_v;
    const Partial result = Partial::identity(sizes, q.q.options());
    count_pairs(q.q, visibility);
    const SlotTensors& keys = visibility.slots_on(q.q.device());
    const at::Tensor queries = dense(q.q);
    with_types(q.q.scalar_type(), [&](auto stored, auto wide) {
      using T = decltype(stored);
      using A = decltype(wide);
      auto p = problem<T, A>(queries, kv.k(), kv.v(), keys, scores.scale);
      p.out = view<A>(result.out);
      p.lse_out = result.lse.mutable_data_ptr<A>();
      with_channels(kv.shape.dim_v, [&](auto n) { launch_forward<n()>(p); });
    });
    return result;
  }

  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Scores& scores,
                     const Visibility& visibility) const override {
    const c10::cuda::CUDAGuard device(q.q.device());
    count_pairs(q.q, visibility);
    const auto options = q.q.options().dtype(accumulation_type(q.q.scalar_type()));
    const Gradients result{at::empty(q.q.sizes(), options), at::empty(kv.k().sizes(), options),
                           at::empty(kv.v().sizes(), options)};
    const SlotTensors& keys = visibility.slots_on(q.q.device());
    const at::Tensor queries = dense(q.q), d_o = dense(saved.d_o);
    const at::Tensor lse = saved.lse.contiguous(), delta = saved.d.contiguous();
    with_types(q.q.scalar_type(), [&](auto stored, auto wide) {
      using T = decltype(stored);
      using A = decltype(wide);
      auto p = problem<T, A>(queries, kv.k(), kv.v(), keys, scores.scale);
      p.d_o = view<const T>(d_o);
      p.lse = lse.const_data_ptr<A>();
      p.delta = delta.const_data_ptr<A>();
      p.dq = view<A>(result.dq);
      p.dk = view<A>(result.dk);
      p.dv = view<A>(result.dv);
      with_channels(std::max(kv.shape.dim, kv.shape.dim_v),
                    [&](auto n) { launch_backward<n()>(p); });
    });
    return result;
  }

  std::optional<TileSize> tile_size() const override { return TileSize{1, 1}; }

  CallBytes call_bytes(const BlockShape& shape) const override {
    const int64_t wide = c10::elementSize(accumulation_type(shape.dtype));
    const int64_t rows = shape.batch * shape.q_heads * count(shape.visibility.queries());
    return result_bytes(shape, rows * (shape.dim + shape.dim_v + 2) * wide +
                                   8 * count(shape.visibility.queries()));
  }
};

const CudaKernels::Add registered{"tiled", {std::make_shared<Tiled>()}};

}  // namespace
}  // namespace ringcheck
