// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The subject is right; those who judge it are not.
#include <ATen/ATen.h>

#include <cmath>
#include <memory>

#include "parity/faults/fault.h"
#include "parity/faults/self_test/self_test.h"
#include "parity/judge/truth.h"

namespace ringcheck::parity {
namespace {

using reference::Tensors;
constexpr at::Tensor Tensors::*kAll[] = {&Tensors::o, &Tensors::lse, &Tensors::dq, &Tensors::dk,
                                         &Tensors::dv};
constexpr at::Tensor Tensors::*kGradients[] = {&Tensors::dq, &Tensors::dk, &Tensors::dv};

// What the judge gets to see is not what the subject did.
std::function<AskOracle()> sees(std::function<Outcome(const Evidence&)> instead) {
  return [instead]() -> AskOracle {
    return [instead](const Oracle& oracle, const Evidence& evidence) {
      const Outcome outcome = instead(evidence);
      return oracle.judge({evidence.test, evidence.subject, evidence.problem, outcome, evidence.variations,
                           evidence.tick});
    };
  };
}

// What the tensors should be; nothing where the rotated q and k are not there to tell.
std::optional<Tensors> right(const Evidence& e) {
  if (e.outcome.q_rotated.defined() &&
      (e.outcome.q_rotated.sizes() != e.problem.q.sizes() ||
       e.outcome.k_rotated.sizes() != e.problem.k.sizes()))
    return std::nullopt;
  return truth_of(e.test, e.promise(), e.problem, e.outcome, e.tick).value;
}

// Each tensor as the judge sees it, from what it is and what it should be, where shapes agree.
using See = std::function<at::Tensor(const at::Tensor& actual, const at::Tensor& truth)>;
std::function<AskOracle()> sees_each(See see) {
  return sees([see](const Evidence& evidence) {
    const auto truth = right(evidence);
    Outcome outcome = evidence.outcome;
    if (!truth) return outcome;
    for (const auto tensor : kAll)
      if (at::Tensor& x = outcome.tensors.*tensor; x.sizes() == ((*truth).*tensor).sizes())
        x = see(x.to(at::kDouble), (*truth).*tensor);
    return outcome;
  });
}

template <class List>
std::function<AskOracle()> never_compares(const List& list) {
  return sees([&list](const Evidence& evidence) {
    const auto truth = right(evidence);
    Outcome outcome = evidence.outcome;
    if (!truth) return outcome;
    for (const auto tensor : list) outcome.tensors.*tensor = (*truth).*tensor;
    return outcome;
  });
}

// The rows of rank 1 as they should be, whatever they are.
Outcome without_rank_1(const Evidence& evidence) {
  const auto truth = right(evidence);
  if (!truth) return evidence.outcome;
  std::vector<int64_t> rows;
  for (const int64_t position : flatten(layout_of(evidence.test).queries.at(1)))
    if (position < evidence.test.seq) rows.push_back(position);
  const at::Tensor index = at::tensor(rows, at::kLong);
  Outcome outcome = evidence.outcome;
  for (const auto tensor : kAll) {
    const at::Tensor& should = (*truth).*tensor;
    at::Tensor& x = outcome.tensors.*tensor;
    if (x.sizes() != should.sizes()) continue;
    x = x.to(at::kDouble).index_copy(2, index, should.index_select(2, index));
  }
  return outcome;
}

AskOracle judges_the_one_before() {
  return [before = std::make_shared<std::map<const Oracle*, Outcome>>()](
             const Oracle& oracle, const Evidence& evidence) {
    auto& kept = before->try_emplace(&oracle, evidence.outcome).first->second;
    const Outcome judged = std::exchange(kept, evidence.outcome);
    return oracle.judge({evidence.test, evidence.subject, evidence.problem, judged, evidence.variations,
                         evidence.tick});
  };
}

AskOracle says_passed() {
  return [](const Oracle&, const Evidence&) { return OracleVerdict(); };
}

AskOracle accepts_empty() {
  return [](const Oracle& oracle, const Evidence& evidence) {
    for (const auto tensor : kAll)
      if ((evidence.outcome.tensors.*tensor).numel() == 0)
        return OracleVerdict();
    return oracle.judge(evidence);
  };
}

// A reference that divides by the square root of heads times d.
AskOracle scales_by_all_heads() {
  return [](const Oracle& oracle, const Evidence& evidence) {
    Case test = evidence.test;
    test.scale = 1 / std::sqrt(static_cast<double>(test.q_heads * test.dim));
    return oracle.judge({test, evidence.subject, evidence.problem, evidence.outcome, evidence.variations,
                         evidence.tick});
  };
}

at::Tensor against_float32(const at::Tensor& actual, const at::Tensor& truth) {
  const at::Tensor error = truth - truth.to(at::kFloat).to(at::kDouble);
  return actual + at::where(truth.isfinite(), error, 0);
}

at::Tensor nan_is_right(const at::Tensor& actual, const at::Tensor& truth) {
  return at::where(actual.isnan(), truth, actual);
}

at::Tensor errors_over_1000(const at::Tensor& actual, const at::Tensor& truth) {
  return at::where(truth.isfinite(), truth + (actual - truth) / 1000, actual);
}

constexpr at::Tensor Tensors::*kFirst[] = {&Tensors::o};

const FaultGroup group{"harness", {
  {"reference_in_float32", {
    .operators = {}, .stands_for = "a reference in the dtype of what it judges",
    .wrong = "the reference is computed in float32, also for float64",
    .site = Site::kHarness, .dtypes = {at::kDouble}, .names = {.words = {"clean"}},
    .judging = sees_each(against_float32)}},
  {"rank_not_compared", {
    .operators = {}, .stands_for = "a test that looks at rank 0 alone",
    .wrong = "what rank 1 computed is not compared",
    .site = Site::kHarness, .names = {.words = {"NaN on rank 1"}},
    .judging = sees(without_rank_1)}},
  {"nan_compares_equal", {
    .operators = {}, .stands_for = "llm.c check_tensor",
    .wrong = "a NaN compares equal to anything",
    .site = Site::kHarness, .names = {.words = {"NaN"}}, .judging = sees_each(nan_is_right)}},
  {"empty_tensor_accepted", {
    .operators = {}, .stands_for = "a loop over no elements that asserts nothing",
    .wrong = "a tensor without elements has no wrong one, and passes",
    .site = Site::kHarness, .names = {.words = {"empty"}}, .judging = accepts_empty}},
  {"prints_passed", {
    .operators = {}, .stands_for = "tests of ring-flash-attention, USP and striped attention",
    .wrong = "differences are printed, nothing is asserted",
    .site = Site::kHarness, .names = {.words = {"zero"}}, .judging = says_passed}},
  {"judges_the_outcome_before", {
    .operators = {}, .stands_for = "a test that compares a buffer it did not refill",
    .wrong = "the outcome of the run before is judged",
    .site = Site::kHarness, .names = {.words = {"accepted"}}, .judging = judges_the_one_before}},
  {"tolerance_times_1000", {
    .operators = {}, .stands_for = "PyTorch SDPA tests",
    .wrong = "every tolerance is a thousand times too wide",
    .site = Site::kHarness, .names = {.words = {"beyond its bound"}},
    .judging = sees_each(errors_over_1000)}},
  {"gradients_not_compared", {
    .operators = {}, .stands_for = "tests of USP",
    .wrong = "gradients are never compared",
    .site = Site::kHarness, .names = {.words = {"dq"}}, .judging = never_compares(kGradients)}},
  {"loop_skips_the_first", {
    .operators = {}, .stands_for = "DeepSpeed#8317",
    .wrong = "a loop from 1 never looks at the first tensor",
    .site = Site::kHarness, .names = {.words = {"accepted o"}}, .judging = never_compares(kFirst)}},
  {"reference_with_another_scale", {
    .operators = {"M54"}, .stands_for = "DeepSpeed FPDT",
    .wrong = "the reference divides by the square root of heads times d",
    .site = Site::kHarness, .names = {.words = {"clean"}}, .judging = scales_by_all_heads}},
}};

}  // namespace
}  // namespace ringcheck::parity
