// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/arithmetic.h"

#include <ATen/ATen.h>

#include <array>
#include <cmath>

namespace ringcheck::parity {
namespace {

constexpr int64_t kKeys = 256, kDim = 64;
// A number in every dtype. In the middle between two powers of two, so that what is added to it or
// to its negative meets the same last place.
constexpr int kExponent = 14;
constexpr double kBig = 0x1.8p14;

// Which keys carry kBig, the small number and -kBig: in one block of a matrix unit, and in several.
using Places = std::array<int64_t, 3>;
constexpr Places kPlaces[] = {{0, 1, 2},     {2, 1, 0},     {1, 2, 0},    {7, 8, 9},
                              {0, 15, 16},   {3, 40, 77},   {0, 64, 128}, {127, 128, 255},
                              {255, 128, 0}, {200, 17, 201}};

class Probe {
 public:
  Probe(const AttentionKernel& kernel, at::ScalarType dtype, at::Device device)
      : kernel_(kernel), dtype_(dtype), device_(device) {}

  at::Tensor zeros() const { return at::zeros({1, 1, kKeys, kDim}, at::kDouble); }
  Partial operator()(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) const {
    const Positions all{{0, kKeys}};
    const auto given = [&](const at::Tensor& x) { return x.to(device_, dtype_); };
    const QBlock queries{given(q), all};
    const KvBlock keys = pack(given(k), given(v), all);
    const Scores scores{{Full{}, kKeys}, 1};
    const Partial part =
        kernel_.forward(queries, keys, scores, visibility_of(queries, keys, scores));
    return {part.out.to(at::kCPU, at::kDouble), part.lse.to(at::kCPU, at::kDouble)};
  }

  // In channel c: kBig + small[c] - kBig, one term a key, all other values being zero and all
  // keys alike, so that every P is 1. The least over the places; NaN if any is.
  at::Tensor sums(const at::Tensor& small) const {
    at::Tensor least = at::full({kDim}, INFINITY, at::kDouble);
    for (const auto& [big, little, minus] : kPlaces) {
      const at::Tensor v = zeros();
      v.select(2, big).fill_(kBig);
      v.select(2, minus).fill_(-kBig);
      v.select(2, little).copy_(small);
      const at::Tensor sum = (*this)(zeros(), zeros(), v).out.select(2, 0).flatten() * kKeys;
      least = at::minimum(least, sum);
    }
    return least;
  }

 private:
  const AttentionKernel& kernel_;
  at::ScalarType dtype_;
  at::Device device_;
};

// kBig + 2^(14-c) keeps its second term for c below the number of bits.
int64_t bits_kept(const Probe& probe) {
  const at::Tensor power = at::ldexp(at::ones({kDim}, at::kDouble), kExponent - at::arange(kDim));
  return probe.sums(power).eq(power).cumprod(0).sum().item<int64_t>();
}

// Three quarters of the last place of kBig are nearer to one than to none; where kBig and
// -kBig meet first, three quarters are left.
bool drops_the_rest(const Probe& probe, int64_t bits) {
  const double last = std::ldexp(1, kExponent + 1 - static_cast<int>(bits));
  return probe.sums(at::full({kDim}, last * 0.75, at::kDouble))[0].item<double>() < last / 2;
}

// Query r sees a key of score 0 and 255 of score -x, x = r / 32: LSE = log(1 + 255 e^-x).
double worst_lse(const Probe& probe) {
  const at::Tensor q = probe.zeros(), k = probe.zeros();
  const at::Tensor x = at::arange(kKeys, at::kDouble) / 32;
  q.select(3, 0).copy_(x.view({1, 1, kKeys}));
  k.select(3, 0).narrow(2, 1, kKeys - 1).fill_(-1);
  const at::Tensor exact = ((kKeys - 1) * (-x).exp()).log1p();
  return (probe(q, k, probe.zeros()).lse.flatten() - exact).abs().max().item<double>();
}

}  // namespace

double Arithmetic::roundoff() const {
  return std::ldexp(chops ? 2 : 1, -static_cast<int>(bits));
}

Arithmetic arithmetic_of(const AttentionKernel& kernel, at::ScalarType dtype, at::Device device) {
  const Probe probe(kernel, dtype, device);
  Arithmetic found;
  found.bits = bits_kept(probe);
  found.chops = drops_the_rest(probe, found.bits);
  found.lse_error = worst_lse(probe) / found.roundoff();
  return found;
}

}  // namespace ringcheck::parity
