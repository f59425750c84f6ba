// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <cctype>
#include <cmath>

#include "parity/judge/conservation/conservation_evidence.h"
#include "parity/judge/conservation/shares.h"
#include "parity/judge/exact/exact.h"

namespace ringcheck::parity {
namespace {

TensorVerdict row_of(const LawVerdict& law) {
  TensorVerdict row;
  row.tensor = law.law;
  row.tensor[0] = static_cast<char>(std::tolower(row.tensor[0]));
  row.status = law.status == Status::kInconclusive ? Status::kNotApplicable : law.status;
  row.max_abs = std::abs(law.difference);
  row.max_z = law.z;
  if (law.status == Status::kFail) row.worst = law.text();
  return row;
}

void judge_laws(const Evidence& evidence, OracleVerdict& verdict) {
  const AttentionShard all = attention_of(evidence.test, evidence.problem, evidence.outcome);
  const std::vector<Positions> layout = layout_of(evidence.test).queries;
  ConservationSums sums;
  std::vector<std::string> localised;
  for (int rank = 0; rank < evidence.test.world; ++rank) {
    evidence.tick();
    const ConservationSums own = sums_of_slots(all, layout[rank]);
    for (std::string& finding : suspects(c10::str("rank ", rank), own)) localised.push_back(std::move(finding));
    sums = sums + own;
  }
  for (const LawVerdict& law :
       judge_conservation(sums, arithmetic_of(evidence.test, evidence.promise(), evidence.outcome))) {
    TensorVerdict row = row_of(law);
    if (row.status == Status::kFail) verdict.findings.push_back(row.worst);
    if (row.status == Status::kPass && verdict.status == Status::kNotApplicable)
      verdict.status = Status::kPass;
    verdict.tensors.push_back(std::move(row));
  }
  if (verdict.findings.empty()) return;
  verdict.status = Status::kFail;
  verdict.findings.insert(verdict.findings.end(), localised.begin(), localised.end());
}

OracleVerdict judge(const Evidence& evidence) {
  const reference::Tensors& found = evidence.outcome.tensors;
  OracleVerdict verdict;
  verdict.status = Status::kNotApplicable;
  for (const at::Tensor* tensor : {&found.o, &found.dq, &found.dk, &found.dv})
    if (!tensor->defined()) return not_applicable("the laws are about O, dQ, dK and dV together");
  try {
    judge_laws(evidence, verdict);
  } catch (const std::invalid_argument& error) {  // shapes that do not belong together
    verdict.status = Status::kFail;
    verdict.findings = {error.what()};
  }
  return verdict;
}

const Oracles::Add registered{
    "conservation",
    {"sums of dV, dK, dQ q, dK k, dV v and dO O agree as attention demands, without a reference",
     judge, {}, Oracle::Rigour::kBound, "S (d + dv) a head"}};

}  // namespace
}  // namespace ringcheck::parity
