// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/checks/given.h"

#include <ATen/ATen.h>

#include <functional>
#include <stdexcept>
#include <string_view>

namespace ringcheck::parity {
namespace {

struct Input {
  const char* name;
  at::Tensor Problem::*from;
};
constexpr Input kInputs[] = {{"q", &Problem::q}, {"k", &Problem::k}, {"v", &Problem::v}, {"dO", &Problem::d_o}};

at::ScalarType word_of(const at::Tensor& x) {
  switch (x.element_size()) {
    case 2: return at::kShort;
    case 4: return at::kInt;
    case 8: return at::kLong;
    default: throw std::logic_error("elements of " + std::to_string(x.element_size()) + " bytes");
  }
}

// The sum of these sums, each with a weight of its own: other values change it, and another order.
int64_t weighed(const at::Tensor& sums) {
  return (sums * at::arange(1, sums.numel() + 1, sums.options())).sum().item<int64_t>();
}

}  // namespace

Given::Trace Given::trace_of(const at::Tensor& x) {
  if (x.numel() == 0) return {};
  const at::Tensor whole = x.contiguous();
  if (whole.is_cpu())
    return {static_cast<int64_t>(std::hash<std::string_view>()(
        {static_cast<const char*>(whole.const_data_ptr()), whole.nbytes()}))};
  const at::Tensor rows = whole.view(word_of(whole)).reshape({-1, whole.size(-1)});
  return {weighed(rows.sum(1, false, at::kLong)), weighed(rows.sum(0, false, at::kLong))};
}

Given::Given(const Problem& problem) {
  for (size_t i = 0; i < traces_.size(); ++i) traces_[i] = trace_of(problem.*kInputs[i].from);
}

int64_t Given::changed(const Problem& now) const {
  int64_t bits = 0;
  for (size_t i = 0; i < traces_.size(); ++i)
    if (trace_of(now.*kInputs[i].from) != traces_[i]) bits |= int64_t{1} << i;
  return bits;
}

std::string Given::names(int64_t changed) {
  std::string names;
  for (size_t i = 0; i < std::size(kInputs); ++i)
    if ((changed >> i & 1) != 0) names += (names.empty() ? "" : ", ") + std::string(kInputs[i].name);
  return names;
}

}  // namespace ringcheck::parity
