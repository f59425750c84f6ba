// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/checks/given.h"

#include <ATen/ATen.h>

#include <functional>
#include <string_view>
#include <vector>

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
at::Tensor weighed(const at::Tensor& sums) {
  return (sums * at::arange(1, sums.numel() + 1, sums.options())).sum();
}

// [2], where the contiguous x is.
at::Tensor both_sums(const at::Tensor& x) {
  const at::Tensor rows = words(x).flatten(0, -2);
  return at::stack({weighed(rows.sum(1, false, at::kLong)), weighed(rows.sum(0, false, at::kLong))});
}

// Of [2] on the CPU.
Given::Trace trace_in(const at::Tensor& sums) { return {sums[0].item<int64_t>(), sums[1].item<int64_t>()}; }

Given::Trace bytes_of(const at::Tensor& x) {
  return {static_cast<int64_t>(std::hash<std::string_view>()({static_cast<const char*>(x.const_data_ptr()), x.nbytes()}))};
}

}  // namespace

Given::Trace Given::sums_of(const at::Tensor& x) { return trace_in(both_sums(x).cpu()); }

// A GPU is waited for once.
Given::Traces Given::traces_of(const Problem& problem) {
  Traces traces{};
  std::vector<at::Tensor> sums;
  std::vector<size_t> summed;
  for (size_t i = 0; i < traces.size(); ++i) {
    if ((problem.*kInputs[i].from).numel() == 0) continue;
    const at::Tensor whole = (problem.*kInputs[i].from).contiguous();
    if (whole.is_cpu()) {
      traces[i] = bytes_of(whole);
    } else {
      sums.push_back(both_sums(whole));
      summed.push_back(i);
    }
  }
  if (sums.empty()) return traces;
  const at::Tensor all = at::stack(sums).cpu();
  for (size_t i = 0; i < summed.size(); ++i) traces[summed[i]] = trace_in(all[static_cast<int64_t>(i)]);
  return traces;
}

Given::Given(const Problem& problem) : traces_(traces_of(problem)) {}

int64_t Given::changed(const Problem& now) const {
  const Traces traces = traces_of(now);
  int64_t bits = 0;
  for (size_t i = 0; i < traces.size(); ++i)
    if (traces[i] != traces_[i]) bits |= int64_t{1} << i;
  return bits;
}

std::string Given::names(int64_t changed) {
  std::string names;
  for (size_t i = 0; i < std::size(kInputs); ++i)
    if ((changed >> i & 1) != 0) names += (names.empty() ? "" : ", ") + std::string(kInputs[i].name);
  return names;
}

}  // namespace ringcheck::parity
