// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/conservation/factors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "parity/judge/comparison.h"

namespace ringcheck::parity {
namespace {

using S = ConservationSums;
using Field = at::Tensor S::*;

// A tensor, the law that gives its factor, and the sums that grow with it and with its square.
struct Scalable {
  const char* name;
  size_t law;
  std::vector<Field> linear, squares;
};
const std::vector<Scalable>& scalables() {
  static const std::vector<Scalable> table{
      {"dv", 0, {&S::dv, &S::dv_v}, {&S::dv_squares, &S::dv_v_squares}},
      {"dk", 2, {&S::dk, &S::dk_k}, {&S::dk_squares, &S::dk_k_squares, &S::dk_k_norms}},
      {"dq", 2, {&S::dq_q}, {&S::dq_q_squares, &S::dq_q_norms}},
      {"o", 3, {&S::do_o, &S::q_d}, {&S::do_o_squares, &S::q_d_squares, &S::q_output_squares}}};
  return table;
}

S scaled(S sums, const Scalable& tensor, double factor) {
  for (const Field field : tensor.linear) sums.*field = sums.*field * factor;
  for (const Field field : tensor.squares) sums.*field = sums.*field * (factor * factor);
  return sums;
}

constexpr int64_t kEquations = 4;

// By what the tensor of `part`, a part of `all`, must be multiplied for its law to hold: least
// squares over heads and channels.
std::optional<Factor> factor_of(const S& all, const S& part, const Scalable& tensor,
                                const Arithmetic& how) {
  const Law law = laws_of(all, how)[tensor.law];
  const at::Tensor own = laws_of(part, how)[tensor.law].difference -
                         laws_of(scaled(part, tensor, 0), how)[tensor.law].difference;
  const at::Tensor rest = law.difference - own;
  const auto over_variance = [&](const at::Tensor& x) {
    return at::where(law.variance.gt(0), x / law.variance, 0.0).sum().item<double>();
  };
  const double weight = over_variance(own.square());
  const double times = -over_variance(own * rest) / weight;
  const bool known = own.abs().gt(kStat * law.variance.sqrt()).sum().item<int64_t>() >= kEquations;
  if (!known || !std::isfinite(times) || times == 0) return std::nullopt;
  return Factor{tensor.name, 1 / times, 1 / std::sqrt(weight) / (times * times)};
}

// The sums with the tensor, of one part or of all, multiplied.
Parts multiplied(Parts parts, int part, const Scalable& tensor, double times) {
  for (int i = 0; i < std::ssize(parts); ++i)
    if (part < 0 || i == part) parts[i] = scaled(parts[i], tensor, times);
  return parts;
}

std::optional<Factor> factor_of(const Parts& parts, int part, const Scalable& tensor,
                                const Arithmetic& how) {
  const S all = sum(parts);
  return factor_of(all, part < 0 ? all : parts[part], tensor, how);
}

// Once more on the tensor that was divided by it, as the scales depend on how large that is.
std::optional<Factor> fit(const Parts& parts, int part, const Scalable& tensor,
                          const Arithmetic& how, const std::vector<LawVerdict>& broken) {
  if (part < 0 && tensor.name == std::string("dq")) return std::nullopt;  // as good as dk
  auto factor = factor_of(parts, part, tensor, how);
  if (!factor) return std::nullopt;
  const auto rest = factor_of(multiplied(parts, part, tensor, 1 / factor->value), part, tensor, how);
  if (!rest) return std::nullopt;
  factor->value *= rest->value;
  factor->sigma = std::abs(factor->value) * rest->sigma;
  factor->part = part;
  const Parts undone = multiplied(parts, part, tensor, 1 / factor->value);
  return mended(broken, judge_conservation(sum(undone), how)) ? factor : std::nullopt;
}

}  // namespace

std::vector<Factor> fitting_factors(const Parts& parts, const Arithmetic& how) {
  const auto broken = judge_conservation(sum(parts), how);
  std::vector<Factor> found;
  const auto try_all = [&](int part) {
    for (const Scalable& tensor : scalables())
      if (auto factor = fit(parts, part, tensor, how, broken)) found.push_back(*factor);
  };
  try_all(-1);
  for (int part = 0; found.empty() && parts.size() > 1 && part < std::ssize(parts); ++part)
    try_all(part);
  return found;
}

}  // namespace ringcheck::parity
