// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/diagnosis/wrong.h"

#include <ATen/ATen.h>

#include <limits>

namespace ringcheck::parity {
namespace {

// By which norms of a right tensor are off at most, or by little more.
double rounding_in(at::ScalarType dtype) {
  switch (dtype) {
    case at::kDouble: return 1e-9;
    case at::kFloat: return 1e-4;
    case at::kHalf: return 0x1p-8;
    default: return 0x1p-6;
  }
}

}  // namespace

bool is_lse(const NamedTensor& named) { return named.tensor == &reference::Tensors::lse; }

at::Tensor with_channels(const at::Tensor& x, const NamedTensor& named) { return is_lse(named) ? x.unsqueeze(-1) : x; }

at::Tensor Wrong::part(const at::Tensor& x, int64_t entry, const Asked& asked) const {
  const int64_t heads = is_of_keys(named) ? 1 : asked.heads();
  return x[entry].narrow(0, asked.head * heads, heads).narrow(1, 0, asked.tokens());
}

std::string Wrong::place(const std::vector<int64_t>& owner, at::ScalarType of) const {
  return place_of_errors(all, is_of_keys(named) ? "key-value head" : "head", owner, rounding_in(of));
}

std::vector<Wrong> wrong_of(const Case& test, const Outcome& outcome, const std::set<std::string>& names) {
  const bool rotated_wrongly = names.contains("q") || names.contains("k");
  std::vector<Wrong> list;
  for (const NamedTensor& named : kTensors) {
    const at::Tensor& x = outcome.tensors.*named.tensor;
    const bool judged = names.contains(named.name);
    if (!(judged || rotated_wrongly) || !x.defined() || x.sizes() != shape_of(named, test)) continue;
    const at::Tensor got = with_channels(x.to(at::kCPU, at::kDouble), named);
    const double empty = is_lse(named) ? -std::numeric_limits<double>::infinity() : 0;
    list.push_back({named, x.scalar_type(), judged, {got, at::full_like(got, empty)}});
  }
  return list;
}

}  // namespace ringcheck::parity
