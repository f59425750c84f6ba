// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include "parity/oracle.h"

namespace ringcheck::parity {
namespace {

constexpr double kFactor = 8;
constexpr double kNormal = 0x1p-100;  // below it, intermediate results may be subnormal or flushed

Problem scaled(const Case& test, const Positions& positions) {
  Problem problem = problem_of(test, positions);
  problem.d_o = problem.d_o * kFactor;
  return problem;
}

// fp16 has too few exponents: there, what is rounded changes with the size.
std::vector<Run> variations(const Case& test) {
  if (test.dtype == at::kHalf) return {};
  return {{test, scaled}};
}

// A power of two changes no rounding: O and LSE do not change, the gradients are multiplied, bit
// for bit.
OracleVerdict judge(const Evidence& evidence) {
  const reference::Tensors &one = evidence.outcome.tensors, &many = evidence.variations.at(0).tensors;
  OracleVerdict verdict;
  verdict.status = Status::kNotApplicable;
  const auto equal = [&](const char* name, const at::Tensor& a, const at::Tensor& b, double factor) {
    if (!a.defined() || !b.defined()) return;
    if (verdict.status == Status::kNotApplicable) verdict.status = Status::kPass;
    const at::Tensor tiny = factor == 1 ? at::zeros_like(a, at::kBool)
                                        : (a.abs() < kNormal) & (b.abs() < kFactor * kNormal);
    const int64_t wrong = (b.ne(a * factor) & tiny.logical_not()).sum().item<int64_t>();
    if (wrong == 0) return;
    verdict.status = Status::kFail;
    verdict.findings.push_back(c10::str(name, ": ", wrong, " of ", a.numel(), " elements are not exactly ",
                                        factor, " times as large for ", kFactor, " dO"));
  };
  equal("o", one.o, many.o, 1);
  equal("lse", one.lse, many.lse, 1);
  equal("dq", one.dq, many.dq, kFactor);
  equal("dk", one.dk, many.dk, kFactor);
  equal("dv", one.dv, many.dv, kFactor);
  return verdict;
}

const Oracles::Add registered{
    "scaled_gradient",
    {"eight times dO gives exactly eight times the gradients", judge, variations}};

}  // namespace
}  // namespace ringcheck::parity
