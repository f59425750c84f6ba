// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <cmath>

#include "parity/judge/comparison.h"
#include "parity/judge/conservation/conservation_evidence.h"

namespace ringcheck::parity {
namespace {

constexpr double kStep = 0x1p-12;
constexpr double kSteps[] = {kStep, -kStep, 2 * kStep, -2 * kStep};

// A random direction for q, k and v together.
Problem direction(const Case& test, const Positions& positions) {
  Case other = test;
  other.data = "normal";
  other.seed = ~test.seed;
  return problem_of(other, positions);
}

std::vector<Run> runs(const Case& test) {
  std::vector<Run> list;
  if (test.dtype != at::kDouble) return list;
  for (const double step : kSteps)
    list.push_back({test, [step](const Case& c, const Positions& positions) {
                      Problem problem = problem_of(c, positions);
                      const Problem way = direction(c, positions);
                      problem.q = problem.q + step * way.q;
                      problem.k = problem.k + step * way.k;
                      problem.v = problem.v + step * way.v;
                      return problem;
                    }});
  return list;
}

// The loss is <dO, O>. Two central differences give its derivative along the direction to fourth
// order (Richardson); a thirty-second of their distance is more than the error that is left, which
// is of the order of their relative distance. It owes nothing to anybody's backward pass.
OracleVerdict judge(const Evidence& evidence) {
  OracleVerdict verdict;
  verdict.status = Status::kNotApplicable;
  const reference::Tensors& own = evidence.outcome.tensors;
  if (!own.dq.defined() || !own.dk.defined() || !own.dv.defined()) return verdict;
  const Case& test = evidence.test;
  const auto tokens = [&](const at::Tensor& x) {
    return without_pads(test, x);
  };
  const at::Tensor d_o = tokens(evidence.problem.d_o);
  const auto loss = [&](size_t run) {
    return (d_o * evidence.variations.at(run).tensors.o).sum().item<double>();
  };
  const double near = (loss(0) - loss(1)) / (2 * kStep), far = (loss(2) - loss(3)) / (4 * kStep);
  const double quotient = (4 * near - far) / 3;
  const Problem way = direction(test, {{0, test.seq}}).to(d_o.device());
  const auto along = [&](const at::Tensor& gradient, const at::Tensor& x) {
    return (gradient * tokens(x)).sum().item<double>();
  };
  const double derivative = along(own.dq, way.q) + along(own.dk, way.k) + along(own.dv, way.v);
  // What rounding leaves of the loss, from C4, over all heads and channels.
  const ConservationSums sums = conservation_sums(attention_of(test, evidence.problem, evidence.outcome));
  const double sigma = std::sqrt(output_variance(sums, arithmetic_of(test, evidence.promise(), evidence.outcome)));
  const double allowed = std::abs(near - far) / 32 + kStat * 2 * sigma / kStep;
  if (!(std::abs(derivative - quotient) <= allowed)) {
    verdict.status = Status::kFail;
    verdict.findings = {c10::str("the derivative along a random direction is ", derivative,
                                 " by the gradients and ", quotient, " by differences, which are right to ",
                                 allowed)};
  } else if (std::abs(quotient) > kStat * allowed) {
    verdict.status = Status::kPass;
  }
  return verdict;
}

const Oracles::Add registered{
    "difference-quotient",
    {.proves = "float64 gradients are those of the forward pass, by central differences",
     .judge = judge, .variations = runs, .cost = "further runs", .one_in = 6}};

}  // namespace
}  // namespace ringcheck::parity
