// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/checks/given.h"

#include <ATen/ATen.h>

#include <functional>
#include <string_view>

namespace ringcheck::parity {
namespace {

struct Input {
  const char* name;
  at::Tensor Problem::*from;
};
constexpr Input kInputs[] = {{"q", &Problem::q}, {"k", &Problem::k}, {"v", &Problem::v}, {"dO", &Problem::d_o}};

// The last dimension as whole numbers, as wide as its size and its place in memory allow.
at::Tensor words(const at::Tensor& x) {
  const auto whole = [&](int64_t elements, at::ScalarType word) {
    return elements * x.element_size() % static_cast<int64_t>(c10::elementSize(word)) == 0;
  };
  for (const at::ScalarType word : {at::kLong, at::kInt, at::kShort})
    if (whole(x.size(-1), word) && whole(x.storage_offset(), word)) return x.view(word);
  return x.view(at::kChar);
}

// The sum of these sums, each with a weight of its own: other values change it, and another order.
int64_t weighed(const at::Tensor& sums) {
  return (sums * at::arange(1, sums.numel() + 1, sums.options())).sum().item<int64_t>();
}

}  // namespace

Given::Trace Given::trace_of(const at::Tensor& x) {
  if (x.numel() == 0) return {};
  const at::Tensor whole = x.contiguous();
  if (!whole.is_cpu()) return sums_of(whole);
  return {static_cast<int64_t>(std::hash<std::string_view>()(
      {static_cast<const char*>(whole.const_data_ptr()), whole.nbytes()}))};
}

Given::Trace Given::sums_of(const at::Tensor& x) {
  const at::Tensor rows = words(x).flatten(0, -2);
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
