// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/exact/exact.h"
#include "parity/judge/rotated.h"

namespace ringcheck::parity {
namespace {

OracleVerdict judge(const Evidence& evidence) {
  if (evidence.test.rope.pairing == Rope::Pairing::kNone)
    return not_applicable("nothing is rotated");
  if (!evidence.outcome.shows_rotated())
    return not_applicable("the subject does not show its rotated q and k");
  OracleVerdict verdict;
  verdict.tensors =
      judge_rotated(evidence.test, evidence.promise(), evidence.problem, evidence.outcome);
  for (const TensorVerdict& tensor : verdict.tensors)
    if (tensor.status == Status::kFail) {
      verdict.status = Status::kFail;
      verdict.findings.push_back("rotated " + tensor.tensor + ": " + tensor.worst);
    }
  return verdict;
}

const Oracles::Add registered{
    "rope", {"q and k are rotated by the global position of their slot in its document", judge,
             {}, Oracle::Rigour::kBound, "S d a head"}};

}  // namespace
}  // namespace ringcheck::parity
