// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/conservation/accumulation.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <limits>

#include "parity/case/task.h"
#include "parity/case/text.h"

namespace ringcheck::parity {
namespace {

constexpr int64_t kLongest = int64_t{1} << 40;

template <class T>
Accumulation kept_in(int64_t length) {
  using Limits = std::numeric_limits<T>;
  return {static_cast<double>(Limits::epsilon()) / 2,
          static_cast<double>(Limits::denorm_min()) / 2, length};
}

}  // namespace

Accumulation parse_accumulation(const std::string& text) {
  const Call call = parse_call(text);
  if (call.arguments.size() != 1)
    throw BadCase("accumulation '" + text + "' does not say after how many terms sums are rounded; " +
                  "want DTYPE[LENGTH], as in bf16[256]");
  const int64_t terms = parse_size(call.arguments[0]);
  if (terms < 1 || terms > kLongest)
    throw BadCase("accumulation '" + text + "' has a length of " + call.arguments[0] +
                  "; want a whole number from 1 to 2^40");
  switch (parse_dtype(call.name)) {
    case at::kBFloat16: return kept_in<at::BFloat16>(terms);
    case at::kHalf: return kept_in<at::Half>(terms);
    case at::kFloat: return kept_in<float>(terms);
    default: return kept_in<double>(terms);
  }
}

}  // namespace ringcheck::parity
