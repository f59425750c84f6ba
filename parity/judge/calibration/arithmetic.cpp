// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/calibration/arithmetic.h"

#include <ATen/ATen.h>

#include <algorithm>
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

  // dV where LSE is 0, so that P = e^S.
  at::Tensor dv(const at::Tensor& q, const at::Tensor& k, const at::Tensor& d_o) const {
    const Positions all{{0, kKeys}};
    const auto given = [&](const at::Tensor& x) { return x.to(device_, dtype_); };
    const QBlock queries{given(q), all};
    const KvBlock keys = pack(given(k), given(zeros()), all);
    const Scores scores{{Full{}, kKeys}, 1};
    const at::Tensor none = at::zeros({1, 1, kKeys}, at::kDouble)
                                .to(device_, accumulation_type(dtype_));
    const Saved saved{given(zeros()), none, none, given(d_o)};
    return kernel_.backward(queries, keys, saved, scores, visibility_of(queries, keys, scores))
        .dv.to(at::kCPU, at::kDouble);
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

// Small terms are swallowed by a large one that they meet one at a time; those that meet each other
// first are not. kBig comes early and -kBig late, so that what is left is small.
int64_t terms_at_once(const Probe& probe, int64_t bits) {
  const double small = std::ldexp(0.375, kExponent + 1 - static_cast<int>(bits));
  double most = 0;
  for (const int64_t place : {0, 1, 7, 31}) {
    const at::Tensor v = at::full({1, 1, kKeys, kDim}, small, at::kDouble);
    v.select(2, place).fill_(kBig);
    v.select(2, kKeys - 1 - place).fill_(-kBig);
    const double left = probe(probe.zeros(), probe.zeros(), v).out[0][0][0][0].item<double>() * kKeys;
    most = std::max(most, static_cast<double>(kKeys - 2) - left / small);
  }
  return std::max<int64_t>(1, static_cast<int64_t>(kKeys / (most + 2)));
}

// A NaN is an infinite error.
double larger(double worst, long double error) {
  return std::isnan(error) ? INFINITY : std::max(worst, static_cast<double>(error));
}

constexpr int64_t kParts = 4;

// x = r step + j step / kParts for 256 r; the two parts have few bits each, so that every dtype holds them.
struct Exponents {
  double step;
  double x(int64_t r, int64_t j) const { return step * (static_cast<double>(r) + static_cast<double>(j) / kParts); }
  // q with -q k = x in every query, where k is 1 in the first two channels.
  at::Tensor queries(const at::Tensor& zeros, int64_t j) const {
    const at::Tensor q = zeros.clone();
    q.select(3, 0).copy_((-step * at::arange(kKeys, at::kDouble)).view({1, 1, kKeys}));
    q.select(3, 1).fill_(-step * static_cast<double>(j) / kParts);
    q.select(3, 2).fill_(-512);
    return q;
  }
};

// Of log(1 + e^-x), whose error is s = e^-x / (1 + e^-x) times that of e^-x: what the rounding of the sum,
// four units of the logarithm and, of the score and its shift, 2 x (formula (2)) leave.
double exp_error(const Probe& probe, double u) {
  const Exponents exponents{1. / 256};
  const at::Tensor k = probe.zeros();  // scores 0, -x, and no others
  k.select(2, 1).narrow(2, 0, 2).fill_(1);
  k.narrow(2, 2, kKeys - 2).select(3, 2).fill_(1);
  double worst = 0;
  for (int64_t j = 0; j < kParts; ++j) {
    const at::Tensor lse = probe(exponents.queries(probe.zeros(), j), k, probe.zeros()).lse.flatten();
    const auto found = lse.accessor<double, 1>();
    for (int64_t r = 0; r < kKeys; ++r) {
      const long double x = exponents.x(r, j), e = std::exp(-x), exact = std::log1p(e);
      const long double error = std::abs(found[r] - exact) / u;
      worst = larger(worst, (error - 1 / (1 + e) - 4 * exact) * (1 + e) / e - 2 * x);
    }
  }
  return worst;
}

// A query a channel has dO = 1, so that dV in it is e^-x of that query.
double backward_exp_error(const Probe& probe, double u) {
  const Exponents exponents{1. / 16};
  const at::Tensor k = probe.zeros();
  k.narrow(3, 0, 2).fill_(1);
  double worst = 0;
  for (int64_t j = 0; j < kParts; ++j)
    for (int64_t first = 0; first < kKeys; first += kDim) {
      const at::Tensor d_o = probe.zeros();
      d_o.narrow(2, first, kDim).diagonal(0, 2, 3).fill_(1);
      const at::Tensor dv = probe.dv(exponents.queries(probe.zeros(), j), k, d_o)[0][0][0];
      const auto found = dv.accessor<double, 1>();
      for (int64_t c = 0; c < kDim; ++c) {
        const long double x = exponents.x(first + c, j), e = std::exp(-x);
        const long double error = std::abs(found[c] - e) / e / u;
        worst = larger(worst, error - 2 * x);
      }
    }
  return worst;
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
  found.kappa = terms_at_once(probe, found.bits);
  found.exp_error = exp_error(probe, found.roundoff());
  found.backward_exp_error = backward_exp_error(probe, found.roundoff());
  return found;
}

}  // namespace ringcheck::parity
