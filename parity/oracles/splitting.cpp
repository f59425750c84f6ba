// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <cmath>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// A key is hidden by its channel 0: there every q is the same and a hidden key so far below zero
// that its score sinks by some kDepth. The identity holds at any depth: lowering one half of the
// keys and then the other, and merging, gives (1 + exp(-depth)) times the whole.
constexpr double kDepth = 256, kOfQueries = 16;

// What channel 0 of a hidden key is: a power of two, so that every dtype holds it.
double of_hidden_keys(const Case& test) {
  const double scale = scale_of(test);
  const double size = std::exp2(std::ceil(std::log2(kDepth / (kOfQueries * std::abs(scale)))));
  return scale > 0 ? -size : size;
}

enum class Half { kNone, kFirst, kSecond };

// Where nothing turns channel 0 by its position.
Run hiding(Case test, Half hidden) {
  test.rope = {};
  const double low = of_hidden_keys(test);
  return changed(test, [=, cut = test.seq / 2](Problem& p, const std::vector<int64_t>& positions) {
    p.q.select(3, 0).fill_(kOfQueries);
    p.k.select(3, 0).zero_();
    for (size_t slot = 0; slot < positions.size(); ++slot)
      if (hidden != Half::kNone && (positions[slot] < cut) == (hidden == Half::kFirst))
        p.k.select(3, 0).select(2, static_cast<int64_t>(slot)).fill_(low);
  });
}

std::vector<Run> runs(const Case& test) {
  constexpr double kLargest = 0x1p15;  // fp16 holds it
  if (test.seq < 2 || scale_of(test) == 0 || std::abs(of_hidden_keys(test)) > kLargest) return {};
  return {hiding(test, Half::kNone), hiding(test, Half::kSecond), hiding(test, Half::kFirst)};
}

// merge(a, b) in float64. Errors of the two LSE move the weights w and 1 - w by at most
// w (1 - w) (exp(e) - 1); where no key is visible, both weights are 0.
Measured merged(const Measured& a, const Measured& b) {
  const at::Tensor ahead = (b.value.lse - a.value.lse).nan_to_num(0, INFINITY, -INFINITY);
  const at::Tensor some = a.value.lse.isneginf().logical_and(b.value.lse.isneginf()).logical_not();
  const at::Tensor of_a = ahead.neg().sigmoid() * some, of_b = ahead.sigmoid() * some;
  const auto row = [](const at::Tensor& x) { return x.unsqueeze(3); };
  const at::Tensor apart = (a.value.o - b.value.o).abs();
  const at::Tensor spread = of_a * of_b;
  const at::Tensor moved = spread * (a.bound.lse + b.bound.lse).nan_to_num(0).expm1();
  const at::Tensor swing = spread.square() * (a.sigma.lse.square() + b.sigma.lse.square());
  const auto weighted = [&](const at::Tensor& x, const at::Tensor& y) {
    return x.dim() == 4 ? row(of_a) * x + row(of_b) * y : of_a * x + of_b * y;
  };
  const auto deviation = [&](const at::Tensor& x, const at::Tensor& y) {
    const at::Tensor wa = x.dim() == 4 ? row(of_a) : of_a, wb = x.dim() == 4 ? row(of_b) : of_b;
    return (wa * x).square() + (wb * y).square();
  };
  Measured whole;
  whole.value.o = weighted(a.value.o, b.value.o);
  whole.value.lse = at::logaddexp(a.value.lse, b.value.lse);
  whole.bound.o = weighted(a.bound.o, b.bound.o) +
                  row(moved) * (apart + a.bound.o + b.bound.o);
  whole.bound.lse = weighted(a.bound.lse, b.bound.lse) * (1 + moved);
  whole.sigma.o =
      (deviation(a.sigma.o, b.sigma.o) + row(swing.nan_to_num(0)) * apart.square()).sqrt();
  whole.sigma.lse = deviation(a.sigma.lse, b.sigma.lse).sqrt();
  return whole;
}

OracleVerdict judge(const Evidence& e) {
  const std::vector<Run> all = runs(e.test);
  const auto of = [&](size_t i) { return measured(e, all[i], e.variations[i]); };
  return agree(e.test, of(0), merged(of(1), of(2)));
}

const Oracles::Add registered{
    "splitting",
    {.proves = "F over all keys is the merge, in float64, of F over the one and over the other half of "
               "the keys, within bounds",
     .judge = judge, .variations = runs, .cost = "further runs, and parity of each",
     .needs = "two positions, and a scale from which one channel can hide a key",
     .reads = {"lse"}}};

}  // namespace
}  // namespace ringcheck::parity
