// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/kernels/kernel_blocks.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "parity/judge/oracle.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/test_device.h"

namespace ringcheck {

void showValue(const KernelCase& test, std::ostream& out) {
  out << test.kernel << " " << c10::toString(test.dtype) << ", ";
  rc::show(test.mask, out);
  out << ", batch " << test.batch << ", heads " << test.kv_heads << "x" << test.group << ", dims "
      << test.dim << " and " << test.dim_v << ", scale " << test.scale << ", seed " << test.seed
      << ", slots";
  for (const int64_t slot : test.order)
    out << " " << slot;
}

BlockShape KernelCase::shape() const {
  return {dtype, test_device(), batch, q_heads(), kv_heads, dim, dim_v,
          {mask, scattered(order), scattered(order)}, true, scale};
}

Partial KernelCase::forward(const QBlock& q, const KvBlock& kv) const {
  return entry().forward(q, kv, scores(), visibility_of(q, kv, scores()));
}

Gradients KernelCase::backward(const QBlock& q, const KvBlock& kv, const Saved& saved) const {
  return entry().backward(q, kv, saved, scores(), visibility_of(q, kv, scores()));
}

parity::Problem KernelCase::problem() const {
  const auto tensor = [&](int64_t heads, int64_t channels, uint64_t salt, double spread) {
    return (normal({batch, heads, slots(), channels}, seed + salt, at::kDouble) * spread).to(dtype);
  };
  const double spread = std::sqrt(3 / (std::abs(scale) * std::sqrt(static_cast<double>(dim))));
  return {tensor(q_heads(), dim, 1, spread), tensor(kv_heads, dim, 2, spread),
          tensor(kv_heads, dim_v, 3, 1), tensor(q_heads(), dim_v, 4, 1)};
}

namespace {

// Laws cut blocks into pieces of any size and dim. On GPUs only our own kernels compute all of
// them; the others are drawn where blocks are whole.
std::vector<std::string> flexible_kernels() {
  if (test_device_type() == at::kCPU) return kernels_on(at::kCPU);
  return {"plain", plainest_kernel(test_device_type())};
}

}  // namespace

rc::Gen<KernelCase> gen::kernel_case() {
  return rc::gen::exec([] {
    at::set_num_threads(1);  // as ranks have it
    KernelCase test;
    test.kernel = *choice<std::string>(flexible_kernels());
    test.dtype = *gen::dtype();
    test.mask = *gen::mask(*between(1, 20));
    test.batch = *between(1, 2);
    test.kv_heads = *between(1, 2);
    test.group = *between(1, 3);
    test.dim = *between(1, 9);
    test.dim_v = *between(1, 9);
    test.scale = *choice<double>({0.5, 0.3, 1, 0.125, -0.5});
    test.order.resize(test.mask.length + *between(0, 3));
    std::iota(test.order.begin(), test.order.end(), 0);
    test.seed = *gen::seed();
    if (*flag())
      std::shuffle(test.order.begin(), test.order.end(), std::mt19937_64(test.seed));
    if (test.entry().refuses(test.shape()))
      test.dim_v = test.dim;
    if (test.entry().refuses(test.shape()))
      test.kernel = "plain";
    return test;
  });
}

Positions scattered(const std::vector<int64_t>& slots) {
  std::vector<Span> positions;
  for (const int64_t slot : slots)
    positions.push_back({slot, 1, 1});
  return positions;
}

at::Tensor picked(const at::Tensor& x, const std::vector<int64_t>& slots) {
  return x.index_select(2, at::tensor(slots, at::kLong).to(x.device())).to(test_device());
}

at::Tensor unpicked(const at::Tensor& computed, const std::vector<int64_t>& slots, int64_t length) {
  const at::Tensor x = computed.cpu();
  auto sizes = x.sizes().vec();
  sizes[2] = std::max<int64_t>(length, *std::max_element(slots.begin(), slots.end()) + 1);
  return at::zeros(sizes, x.options())
      .index_copy_(2, at::tensor(slots, at::kLong), x)
      .narrow(2, 0, length)
      .contiguous();
}

QBlock query_block(const at::Tensor& q, const std::vector<int64_t>& slots) {
  return {picked(q, slots), scattered(slots)};
}

KvBlock key_block(const at::Tensor& k, const at::Tensor& v, const std::vector<int64_t>& slots) {
  return pack(picked(k, slots), picked(v, slots), scattered(slots));
}

Saved saved_of(const Partial& whole, const at::Tensor& d_o) {
  const at::ScalarType wide = accumulation_type(d_o.scalar_type());
  const at::Tensor o = whole.out.to(d_o.scalar_type());
  return {o, whole.lse, (d_o.to(wide) * o.to(wide)).sum(-1), d_o};
}

reference::Tensors as_one_block(const KernelCase& test, const parity::Problem& p) {
  const QBlock q = query_block(p.q, test.order);
  const KvBlock kv = key_block(p.k, p.v, test.order);
  const Partial part = test.forward(q, kv);
  const Gradients d = test.backward(q, kv, saved_of(part, picked(p.d_o, test.order)));
  const auto back = [&](const at::Tensor& x) { return unpicked(x, test.order, test.mask.length); };
  return {back(part.out), back(part.lse), back(d.dq), back(d.dk), back(d.dv)};
}

reference::Judgement kernel_judgement(const KernelCase& test, const parity::Problem& p,
                                      int merged) {
  parity::Case named;
  named.kernel = test.kernel;
  named.dtype = test.dtype;
  const auto tokens = [&](const at::Tensor& x) { return x.narrow(2, 0, test.mask.length); };
  return reference::judge(
      {tokens(p.q), tokens(p.k), tokens(p.v), tokens(p.d_o), test.mask, test.scale},
      parity::contracts_of(named), merged, {});
}

}  // namespace ringcheck
