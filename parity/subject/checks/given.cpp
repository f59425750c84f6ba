// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/checks/given.h"

#include <ATen/ATen.h>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "cp/ledger/memory.h"
#include "parity/subject/checks/mixed_sum.h"

namespace ringcheck::parity {
namespace {

struct Input {
  const char* name;
  at::Tensor Problem::*from;
};
constexpr Input kInputs[] = {{"q", &Problem::q}, {"k", &Problem::k}, {"v", &Problem::v}, {"dO", &Problem::d_o}};

int64_t hash_of(const at::Tensor& x) {
  return static_cast<int64_t>(std::hash<std::string_view>()({static_cast<const char*>(x.const_data_ptr()), x.nbytes()}));
}

}  // namespace

Given::Traces Given::sums_of(const Problem& problem) {
  std::vector<at::Tensor> sums;
  for (const Input& input : kInputs) sums.push_back(mixed_sum((problem.*input.from).contiguous()));
  const at::Tensor all = at::stack(sums).cpu();
  Traces traces;
  for (size_t i = 0; i < traces.size(); ++i) traces[i] = all[static_cast<int64_t>(i)].item<int64_t>();
  return traces;
}

Given::Traces Given::traces_of(const Problem& problem) {
  const Metered aside(std::make_shared<MemoryMeter>());  // nobody reads it: what this takes is not the rank's
  if (!problem.q.is_cpu()) return sums_of(problem);
  Traces traces;
  for (size_t i = 0; i < traces.size(); ++i) traces[i] = hash_of((problem.*kInputs[i].from).contiguous());
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
