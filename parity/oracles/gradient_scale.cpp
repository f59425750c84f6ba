// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/relation.h"

namespace ringcheck::parity {
namespace {

constexpr double kFactor = 8;
constexpr double kNormal = 0x1p-100;  // below it, what led there may have been flushed to zero

// fp16 has too few exponents: there, what is rounded changes with the size.
std::vector<Run> runs(const Case& test) {
  if (test.dtype == at::kHalf || !deterministic(test)) return {};
  return {changed(test, [](Problem& p, const auto&) { p.d_o.mul_(kFactor); })};
}

// The multiple; what is next to nothing on both sides is as good as equal.
at::Tensor multiple(const at::Tensor& one, const at::Tensor& many) {
  if (!one.defined() || !many.defined()) return {};
  const at::Tensor tiny = (one.abs() < kNormal) & (many.abs() < kFactor * kNormal);
  return at::where(tiny, many, one * kFactor);
}

OracleVerdict judge(const Evidence& e) {
  const reference::Tensors &one = e.outcome.tensors, &many = e.variations.front().tensors;
  return identical(e.test, many,
                   {one.o, one.lse, multiple(one.dq, many.dq), multiple(one.dk, many.dk),
                    multiple(one.dv, many.dv)});
}

const Oracles::Add registered{
    "gradient-scale",
    {"dO -> c dO multiplies dQ, dK and dV by c bit for bit for a power of two c", judge, runs,
     Oracle::Rigour::kExact, "further runs"}};

}  // namespace
}  // namespace ringcheck::parity
