// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/exact/exact.h"
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Nothing of it is equal to the case's own, and nothing is larger.
Problem another(const Case& test, const Positions& positions) {
  Problem p = problem_of(test, positions);
  for (at::Tensor* x : {&p.q, &p.k, &p.v, &p.d_o}) x->mul_(-0.5);
  return p;
}

std::vector<Run> runs(const Case& test) {
  Run run{test};
  run.meanwhile = another;
  return {run};
}

OracleVerdict judge(const Evidence& e) {
  OracleVerdict verdict = same_bits_in_all_runs(e);
  if (!e.variations.front().solved_meanwhile) {
    verdict.status = Status::kFail;
    verdict.findings.push_back("the subject promised passes that can be called one by one, and did "
                               "not do what was asked between them");
  }
  return verdict;
}

const Oracles::Add registered{
    "saved-state",
    {"what the forward pass saves survives: a first backward pass, and F of another problem, "
     "change no bit of the next backward pass",
     judge,
     runs, Oracle::Rigour::kExact, "further runs", "",
     {.same_bits = true, .separate_passes = true}}};

}  // namespace
}  // namespace ringcheck::parity
