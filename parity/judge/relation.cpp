// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/relation.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include "cp/attention/partial.h"
#include "parity/judge/comparison.h"
#include "parity/judge/elements/epsilon.h"
#include "parity/judge/truth.h"

namespace ringcheck::parity {

TensorVerdict same_bits(const Case& test, const char* name, const at::Tensor& actual,
                        const at::Tensor& expected) {
  const at::Tensor value = expected.to(at::kDouble), none = at::zeros_like(value);
  return compare(test, name, actual, value, none, none);
}

bool multiplies_exactly(const Case& test) {
  return test.dtype != at::kHalf;
}

at::Tensor multiple(double factor, const at::Tensor& one, const at::Tensor& many) {
  constexpr double kTiny = 0x1p-100;
  if (!one.defined()) return {};
  const at::Tensor exact = one * factor;
  if (!many.defined() || many.sizes() != one.sizes()) return exact;
  const at::Tensor tiny = (one.abs() < kTiny) & (many.abs() < factor * kTiny);
  const at::Tensor size = exact.abs().to(at::kDouble);
  const at::Tensor unit = size * epsilon_of(one.scalar_type()) +
                          size.amax(-1, true) * (2 * epsilon_of(accumulation_type(one.scalar_type())));
  return at::where(tiny | ((many.to(at::kDouble) - exact).abs() <= unit.nan_to_num(0, 0)), many, exact);
}

namespace {

// Position p becomes length - 1 - p; those behind the end stay.
Positions mirrored(const Positions& positions, int64_t length) {
  std::vector<Span> mirror;
  for (const int64_t p : flatten(positions)) mirror.push_back({p < length ? length - 1 - p : p, 1});
  return mirror;
}

}  // namespace

Run changed(const Case& test, Change change) {
  return {test, [change = std::move(change)](const Case& c, const Positions& positions) {
            Problem problem = problem_of(c, positions);
            change(problem, flatten(positions));
            return problem;
          }};
}

Run disturbed(const Case& test, ProblemTensors which, std::function<bool(int64_t)> where) {
  return changed(test, [=](Problem& p, const std::vector<int64_t>& positions) {
    for (size_t slot = 0; slot < positions.size(); ++slot)
      if (where(positions[slot]))
        for (const auto tensor : which)
          (p.*tensor).select(2, static_cast<int64_t>(slot)).mul_(-3).add_(1);
  });
}

std::vector<Run> on_other_ranks(const Case& test, const std::vector<int>& worlds) {
  if (test.world_kind != "thread") return {};
  for (const int world : worlds) {
    Case other = test;
    other.world = world;
    if (world != test.world && !(test.is_ours() && not_supported(other))) return {Run{other}};
  }
  return {};
}

std::vector<Run> in_reverse(const Case& test, ProblemTensors which) {
  const bool any_order = std::holds_alternative<Full>(test.mask) && test.lengths.empty();
  if (!any_order || test.rope.pairing != Rope::Pairing::kNone) return {};
  return {{test, [which = std::move(which)](const Case& c, const Positions& positions) {
             Problem problem = problem_of(c, positions);
             const Problem other = problem_of(c, mirrored(positions, c.seq));
             for (const auto tensor : which) problem.*tensor = other.*tensor;
             return problem;
           }}};
}

OracleVerdict identical(const Case& test, const reference::Tensors& actual,
                        const reference::Tensors& expected) {
  std::vector<TensorVerdict> tensors;
  for (const auto& [name, tensor] : kTensors) {
    if (!(expected.*tensor).defined()) continue;
    tensors.push_back((actual.*tensor).defined()
                          ? same_bits(test, name, actual.*tensor, expected.*tensor)
                          : not_returned(name));
  }
  return verdict_of(std::move(tensors));
}

namespace {

reference::Judgement truth_of(const Evidence& evidence, const Run& run, const Outcome& outcome) {
  const Problem problem =
      run.problem(run.test, {{0, run.test.seq}}).to(outcome.tensors.o.device());
  Promise promise = evidence.subject.promise(run.test);
  if (run.layout && promise.by_strategy)
    promise.gradient_partials = gradient_partials_of(run.test, *run.layout, promise.contracts().backward);
  return truth_of(run.test, promise, problem, outcome, evidence.tick);
}

}  // namespace

Measured measured(const Evidence& evidence, const Run& run, const Outcome& outcome) {
  const reference::Judgement truth = truth_of(evidence, run, outcome);
  reference::Tensors value;
  for (const auto& [name, tensor] : kTensors)
    if ((outcome.tensors.*tensor).defined())
      value.*tensor = (outcome.tensors.*tensor).to(at::kDouble);
  return {value, truth.bound, truth.sigma};
}

Measured image(const Measured& of, const Image& map) {
  Measured result{map(of.value), map(of.bound), map(of.sigma)};
  for (reference::Tensors* errors : {&result.bound, &result.sigma})
    for (const auto& [name, tensor] : kTensors)
      if ((errors->*tensor).defined()) errors->*tensor = (errors->*tensor).abs();
  return result;
}

OracleVerdict agree(const Case& test, const Measured& actual, const Measured& expected) {
  std::vector<TensorVerdict> tensors;
  for (const auto& [name, tensor] : kTensors) {
    if (!(expected.value.*tensor).defined()) continue;
    if (!(actual.value.*tensor).defined()) {
      tensors.push_back(not_returned(name));
      continue;
    }
    const at::Tensor variance =
        (actual.sigma.*tensor).square() + (expected.sigma.*tensor).square();
    tensors.push_back(compare(test, name, actual.value.*tensor, expected.value.*tensor,
                              actual.bound.*tensor + expected.bound.*tensor, variance.sqrt()));
  }
  OracleVerdict verdict = verdict_of(std::move(tensors));
  verdict.status = status_of_relation(verdict.tensors);
  return verdict;
}

OracleVerdict right(const Evidence& evidence, const Run& run, const Outcome& outcome) {
  const reference::Judgement truth = truth_of(evidence, run, outcome);
  const Image nothing = [](const reference::Tensors& x) {
    return reference::Tensors{x.o * 0, x.lse * 0, x.dq * 0, x.dk * 0, x.dv * 0};
  };
  Measured expected{truth.value, truth.bound, truth.sigma};
  for (const auto& [name, tensor] : kTensors)
    if (outcome.withheld.contains(name)) (expected.value.*tensor).reset();
  return agree(run.test, {outcome.tensors, nothing(truth.bound), nothing(truth.bound)}, expected);
}

OracleVerdict same_bits_in_all_runs(const Evidence& evidence) {
  std::vector<OracleVerdict> parts;
  for (const Outcome& other : evidence.variations)
    parts.push_back(identical(evidence.test, other.tensors, evidence.outcome.tensors));
  return all_of(std::move(parts));
}

void demand_done(const Evidence& evidence, const std::string& finding, OracleVerdict& verdict) {
  for (const Outcome& other : evidence.variations)
    if (!other.did_as_asked) {
      verdict.status = Status::kFail;
      verdict.findings.push_back(finding);
    }
}

RankRecord moved_and_attended(RankRecord record, const Case&) {
  record.peak_bytes = 0;
  record.forward_stock = record.backward_stock = {};
  record.wrong_pads = {};
  return record;
}

void demand_same_records(const Evidence& evidence, OfRecord what, const std::string& finding, OracleVerdict& verdict) {
  if (verdict.status == Status::kFail || evidence.promise().counts.empty()) return;  // what has wrong values is no more than that
  for (const Outcome& other : evidence.variations)
    for (size_t rank = 0; rank < evidence.outcome.ranks.size(); ++rank)
      if (what(other.ranks.at(rank), evidence.test) != what(evidence.outcome.ranks[rank], evidence.test)) {
        verdict.status = Status::kFail;
        verdict.contract = true;
        verdict.findings.push_back(c10::str("rank ", rank, " ", finding));
      }
}

OracleVerdict all_of(std::vector<OracleVerdict> parts) {
  OracleVerdict whole;
  for (OracleVerdict& part : parts) {
    for (std::string& finding : part.findings) whole.findings.push_back(std::move(finding));
    for (TensorVerdict& tensor : part.tensors) whole.tensors.push_back(std::move(tensor));
  }
  whole.status = status_of_relation(whole.tensors);
  return whole;
}

}  // namespace ringcheck::parity
