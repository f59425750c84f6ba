// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include "reference/errors/estimate.h"
#include "reference/tiles/device_check.h"
#include "reference/tiles/fast_path.h"

namespace ringcheck::reference {
namespace {

struct Shape {
  int64_t pairs, shared, seq, dim;
};

std::vector<Mask> masks(int64_t seq) {
  const int64_t third = seq / 3, rest = seq - 2 * third;
  const Documents packed{{third, third}, {third - 2, third}, {rest, rest}};
  return {{Full{}, seq},       {Causal{}, seq},       {Window{third}, seq}, {DocumentCausal{packed}, seq},
          {DocumentFull{packed}, seq}, {Prefix{third}, seq}};
}

// Documents that end at every place within a tile of 16 keys, each with a tile of 16 queries of its own.
Mask ending_everywhere() {
  constexpr int64_t kDocuments = 16, kTokens = 33;
  return {DocumentFull{Documents(kDocuments, {kTokens, kTokens})}, kDocuments * kTokens};
}

// Scores have a standard deviation of 3.
Inputs random_inputs(const Shape& n, const Mask& mask, uint64_t seed, at::Device device) {
  at::Generator bits = at::make_generator<at::CPUGeneratorImpl>(seed);
  const auto normal = [&](int64_t heads, double size) {
    return at::randn({n.pairs, heads, n.seq, n.dim}, bits, at::kDouble).mul_(size).to(device);
  };
  return {normal(n.shared, 1.75), normal(1, 1.75), normal(1, 1), normal(n.shared, 1), mask,
          1 / std::sqrt(static_cast<double>(n.dim))};
}

// The largest |fast - plain| over its bound; equal infinities do not differ, a NaN differs infinitely.
double excess(const at::Tensor& fast, const at::Tensor& plain, const at::Tensor& bound) {
  if (fast.sizes() != plain.sizes())
    return std::numeric_limits<double>::infinity();
  const double infinity = std::numeric_limits<double>::infinity();
  const at::Tensor error = (fast - plain).abs_().masked_fill_(fast.eq(plain), 0);
  return (error / bound)
      .masked_fill_(error.eq(0), 0)
      .nan_to_num_(infinity, infinity)
      .max()
      .item<double>();
}

struct Difference {
  double times = 0;  // the largest excess
  const char* tensor = "";

  void note(const char* name, const at::Tensor& fast, const at::Tensor& plain, const at::Tensor& bound) {
    if (const double found = excess(fast, plain, bound); found > times)
      *this = {found, name};
  }
};

// A problem and how it is printed.
struct Trial {
  Shape shape;
  Mask mask;
  uint64_t seed;
  at::Device device;

  std::string text() const {
    std::ostringstream out;
    out << " on " << device << ", with " << shape.pairs << " kv heads of " << shape.shared
        << " query heads, " << shape.seq << " slots, dim " << shape.dim << ", mask "
        << mask.kind.index() << ", seed " << seed;
    return out.str();
  }
  Group group(at::Device where) const {
    return grouped(random_inputs(shape, mask, seed, where), {0, shape.pairs}, where);
  }
  Tiles cut(at::Device where) const { return tiles(key_runs(mask), {}, where); }
  ErrorModel model(const Contract& contract) const {
    return {contract, 1, static_cast<double>(shape.dim), static_cast<double>(shape.dim)};
  }
};

// What verdicts are made of, O and LSE by a fast path where there is one and the gradients beside their bounds.
std::optional<std::string> wrong_values(const Trial& trial) {
  const Group group = trial.group(trial.device);
  const FastPath* path = fast_path_of(group);
  if (path == nullptr && trial.device.is_cpu())
    return std::nullopt;
  const Tiles cut = trial.cut(trial.device);
  const Contract float64{.u_a = 0x1p-53, .u_p = 0, .u_o = 0x1p-53, .eta_e = 0x1p-1022, .u_m = 0x1p-53};
  const Solution plain = solve(group, cut, {});
  const Estimate allowed = estimate(plain, group, cut, trial.model(float64), {});
  const Solution attended = path == nullptr ? plain : path->attend(group, cut);
  Difference worst;
  worst.note("o", attended.o, plain.o, allowed.bound.o);
  worst.note("max", attended.max, plain.max, allowed.bound.lse);
  worst.note("lse", attended.lse, plain.lse, allowed.bound.lse);
  if (worst.times <= 2) {  // both err; and what follows from O and LSE
    const Tensors& gradients =
        path == nullptr ? allowed.value : estimate(attended, group, cut, trial.model(float64), {}).value;
    worst.note("dq", gradients.dq, plain.dq, allowed.bound.dq);
    worst.note("dk", gradients.dk, plain.dk, allowed.bound.dk);
    worst.note("dv", gradients.dv, plain.dv, allowed.bound.dv);
  }
  if (worst.times <= 2)
    return std::nullopt;
  std::ostringstream text;
  text << "the reference, " << (path == nullptr ? "" : "by its fast path '" + path->name + "', ")
       << "differs from its plain form in " << worst.tensor << " by " << worst.times << " times the error of float64 arithmetic"
       << trial.text();
  return text.str();
}

// Bounds are sums of positive terms: in float64 far more digits agree than one could ask for.
constexpr double kDigits = 1e-6;

std::optional<std::string> wrong_bounds(const Trial& trial) {
  if (trial.device.is_cpu())
    return std::nullopt;
  const auto estimate_on = [&](at::Device device) {
    const Contract bf16{.u_p = 0x1p-8, .eta_p = 0x1p-134, .u_o = 0x1p-8, .eta_o = 0x1p-134};
    const Group group = trial.group(device);
    const Tiles cut = trial.cut(device);
    return estimate(attend_plainly(group, cut, {}), group, cut, trial.model(bf16), {});
  };
  const Estimate there = estimate_on(trial.device), here = estimate_on(at::kCPU);
  for (Tensors Estimate::*what : {&Estimate::bound, &Estimate::variance})
    for (const auto& [name, field] : {std::pair{"o", &Tensors::o}, {"lse", &Tensors::lse},
                                      {"dq", &Tensors::dq}, {"dk", &Tensors::dk}, {"dv", &Tensors::dv}})
      if (!at::allclose((there.*what.*field).cpu(), here.*what.*field, kDigits, 0))
        return std::string(what == &Estimate::bound ? "the error bound" : "the variance") + " of " +
               name + " is another than on the CPU" + trial.text();
  return std::nullopt;
}

}  // namespace

std::optional<std::string> device_difference(at::Device device, uint64_t seed) {
  const at::AutoDispatchBelowADInplaceOrView values_only;
  const auto drawn = [seed](int64_t low, int64_t high, uint64_t which) {
    return low + static_cast<int64_t>((seed >> (8 * which)) % static_cast<uint64_t>(high - low + 1));
  };
  const Mask edges = ending_everywhere();
  for (const int64_t dim : {64, 128}) {
    if (auto text = wrong_values({{1, 1, edges.length, dim}, edges, seed, device}))
      return text;
    const Shape n{drawn(1, 2, 0), drawn(1, 3, 1), drawn(30, 300, 2), dim};
    for (const Mask& mask : masks(n.seq)) {
      const Trial trial{n, mask, seed, device};
      if (auto text = wrong_values(trial))
        return text;
      if (auto text = wrong_bounds(trial))
        return text;
    }
  }
  return std::nullopt;
}

}  // namespace ringcheck::reference
