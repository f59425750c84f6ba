// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/conservation/conservation_evidence.h"
#include "parity/judge/exact/exact.h"

namespace ringcheck::parity {
namespace {

// Another V of the same shape.
Problem other_values(const Case& test, const Positions& positions) {
  Case other = test;
  other.data = "normal";
  other.seed = ~test.seed;
  Problem problem = problem_of(test, positions);
  problem.v = problem_of(other, positions).v;
  return problem;
}

std::vector<Run> runs(const Case& test) { return {{test, other_values}}; }

// O is linear in V: <dO, F(V')> = <dV, V'> for any V', in every channel. This is C4 with V' and its
// O in the place of V and O.
OracleVerdict judge(const Evidence& evidence) {
  const Case& test = evidence.test;
  const Outcome& other = evidence.variations.at(0);
  OracleVerdict verdict;
  verdict.status = Status::kNotApplicable;
  const Outcome& own = evidence.outcome;
  if (!own.tensors.dv.defined() || !own.tensors.dq.defined() || !own.tensors.dk.defined())
    return not_applicable("the law is about dQ, dK and dV together");
  Outcome mixed = own;
  mixed.tensors.o = other.tensors.o;
  const Problem problem =
      other_values(test, {{0, test.seq}}).to(own.tensors.dv.device());
  const ConservationSums sums = conservation_sums(attention_of(test, problem, mixed));
  const LawVerdict law = judge_conservation(sums, arithmetic_of(test, evidence.promise(), own)).at(3);
  if (law.status == Status::kInconclusive) return verdict;
  verdict.status = law.status;
  if (law.status == Status::kFail) verdict.findings = {"with another V, " + law.text()};
  return verdict;
}

const Oracles::Add registered{
    "adjoint",
    {"dV is the adjoint of the forward pass: <dO, F(V')> = <dV, V'> for another V'", judge, runs,
     Oracle::Rigour::kBound, "further runs"}};

}  // namespace
}  // namespace ringcheck::parity
