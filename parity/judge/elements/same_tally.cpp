// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/elements/same_tally.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "parity/judge/tally.h"

namespace ringcheck::parity {
namespace {

constexpr double kDigits = 1e-12;  // of a sum of 600 terms in another order

// Where `finite`, without what is not: one NaN would hide all other errors.
Compared random_elements(uint64_t seed, bool finite) {
  at::Generator bits = at::make_generator<at::CPUGeneratorImpl>(seed);
  const auto normal = [&] { return at::randn({3, 2, 37, 101}, bits, at::kDouble); };
  const auto some = [&] { return normal() > 2; };
  const at::Tensor value = normal(), bound = normal().abs();
  at::Tensor actual = value + bound * normal();
  actual = at::where(some(), value, actual);
  at::Tensor sigma = (bound / 3).masked_fill(some(), 0);
  if (!finite) {
    actual.masked_fill_(some(), INFINITY).masked_fill_(some(), NAN);
    value.masked_fill_(some(), -INFINITY);
  }
  std::vector<int64_t> positions(37);
  std::iota(positions.begin(), positions.end(), 3);
  return {actual, value, bound.masked_fill(some(), 0), sigma, 5, positions};
}

bool close(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) ||
         std::abs(a - b) <= kDigits * (std::abs(a) + std::abs(b) + 1);
}

bool same(const Worst& a, const Worst& b) {
  return a.ratio == b.ratio && a.pair == b.pair && a.shared == b.shared &&
         a.position == b.position && a.channel == b.channel;
}

std::optional<std::string> difference(const Tally& a, const Tally& b) {
  for (const auto& [name, field] :
       {std::pair{"max_abs", &Tally::max_abs}, {"hard_ratio", &Tally::hard_ratio},
        {"max_z", &Tally::max_z}})
    if (a.*field != b.*field) return name;
  if (a.worst_position != b.worst_position || !same(a.hard, b.hard) || !same(a.stat, b.stat))
    return "the place of the worst element";
  for (const auto& [name, field] :
       {std::pair{"z_squares", &Tally::z_squares}, {"error_squares", &Tally::error_squares},
        {"value_squares", &Tally::value_squares}})
    if (!close(a.*field, b.*field)) return name;
  for (const auto& [name, field] :
       {std::pair{"compared", &Tally::compared}, {"elements", &Tally::elements},
        {"signed_z", &Tally::signed_z}, {"energy", &Tally::energy}, {"vacuous", &Tally::vacuous}})
    for (size_t position = 0; position < (a.*field).size(); ++position)
      if (!close((a.*field)[position], (b.*field).at(position))) return name;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> tally_difference(at::Device device, uint64_t seed) {
  for (const bool finite : {true, false}) {
    const Compared here = random_elements(seed, finite);
    const auto moved = [&](const at::Tensor& x) { return x.to(device); };
    const Compared there{moved(here.actual), moved(here.value), moved(here.bound),
                         moved(here.sigma),  here.first_pair,   here.positions};
    if (const auto what = difference(tally(here, 40), tally(there, 40)))
      return *what + " of a tally is another on " + device.str() + " than on the CPU, seed " +
             std::to_string(seed);
  }
  return std::nullopt;
}

}  // namespace ringcheck::parity
