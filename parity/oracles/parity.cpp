// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/comparison.h"
#include "parity/data_family.h"
#include "parity/oracle.h"
#include "parity/truth.h"

namespace ringcheck::parity {
namespace {

TensorVerdict absent(const char* name) {
  TensorVerdict verdict;
  verdict.tensor = name;
  verdict.status = Status::kNotApplicable;
  return verdict;
}

// What a data family leaves without a signal: nothing can be said of it beyond that it is within
// its bounds.
bool says_nothing(const Case& test, const std::string& tensor) {
  const auto family = DataFamilies::all().find(test.data);
  return family != DataFamilies::all().end() && family->second.silent.contains(tensor);
}

// O, LSE and the gradients against float64, on exactly the q and k that were attended.
OracleVerdict judge(const Evidence& evidence) {
  const Outcome& outcome = evidence.outcome;
  const reference::Judgement truth =
      truth_of(evidence.test, evidence.problem, outcome, evidence.tick);
  OracleVerdict verdict;
  for (const auto& [name, tensor] : kTensors) {
    const at::Tensor& actual = outcome.tensors.*tensor;
    verdict.tensors.push_back(actual.defined()
                                  ? charted(evidence.test,
                                            compare(evidence.test, name, actual,
                                                    truth.value.*tensor, truth.bound.*tensor,
                                                    truth.sigma.*tensor))
                                  : absent(name));
    TensorVerdict& result = verdict.tensors.back();
    if (result.status == Status::kInconclusive && says_nothing(evidence.test, name))
      result.status = Status::kNotApplicable;
    if (result.status == Status::kFail) verdict.findings.push_back(result.tensor + ": " + result.worst);
    if (result.status == Status::kInconclusive)
      verdict.findings.push_back(result.tensor + ": a zero would pass for " +
                                 std::to_string(100 * result.vacuity) + " % of its energy");
  }
  verdict.status = status_of(verdict.tensors);
  int64_t wrong_pads = 0;
  for (const RankRecord& rank : outcome.ranks) wrong_pads += rank.wrong_pads;
  if (wrong_pads > 0) {
    verdict.status = Status::kFail;
    verdict.findings.push_back(std::to_string(wrong_pads) +
                               " elements of pad slots are not exactly empty");
  }
  return verdict;
}

const Oracles::Add registered{
    "parity",
    {"O, L, dQ, dK and dV differ from float64 by no more than this arithmetic can explain", judge,
     {}, Oracle::Rigour::kBound, "30 products of S x S x d in float64 a head"}};

}  // namespace
}  // namespace ringcheck::parity
