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
  demand_done(e, "the subject promised passes that can be called one by one, and did not do what was "
                 "asked between them", verdict);
  return verdict;
}

const Oracles::Add registered{
    "saved-state",
    {.proves = "F of another problem before it changes no bit of F, and what the forward pass saves "
               "survives: nor does a first backward pass, with F of the other problem, change the next",
     .judge = judge, .variations = runs, .rigour = Oracle::Rigour::kExact, .cost = "further runs",
     .demand = {.same_bits = true, .separate_passes = true}, .one_in = 8}};

}  // namespace
}  // namespace ringcheck::parity
