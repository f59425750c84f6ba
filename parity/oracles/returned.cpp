// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/comparison.h"
#include "parity/judge/oracle.h"

namespace ringcheck::parity {
namespace {

// A subject that leaves out a tensor would pass wherever that tensor is not looked at. It fails by this
// oracle, which the runner asks in that case even if it was not chosen.
OracleVerdict judge(const Evidence& evidence) {
  OracleVerdict verdict;
  for (const std::string& name : evidence.outcome.withheld) {
    verdict.tensors.push_back(withheld(name));
    verdict.findings.push_back(name + ": the subject says that it has none");
  }
  for (const auto& [name, tensor] : evidence.outcome.others)
    verdict.findings.push_back(name + ": no oracle judges it");
  for (const std::string& what : evidence.outcome.missing) verdict.findings.push_back(what);
  if (!evidence.outcome.missing.empty()) verdict.status = Status::kFail;
  return verdict;
}

const Oracles::Add registered{
    "returned",
    {.proves = "O, L, dQ, dK and dV came back from every rank, but for those that the subject says it "
               "has not, and no rank wrote into what it was given",
     .judge = judge, .rigour = Oracle::Rigour::kExact, .cost = "1", .of_form = true}};

}  // namespace
}  // namespace ringcheck::parity
