// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include "parity/judge/against_reference.h"
#include "parity/judge/comparison.h"
#include "parity/case/data_family.h"
#include "parity/judge/oracle.h"

namespace ringcheck::parity {
namespace {

// Only what a subject says that it cannot show is no failure.
TensorVerdict absent(const Outcome& outcome, const std::string& name) {
  return outcome.withheld.contains(name) ? withheld(name) : not_returned(name);
}

// A tensor that was there and could not be judged: anything would pass.
TensorVerdict unjudged(const char* name) {
  TensorVerdict verdict;
  verdict.tensor = name;
  verdict.status = Status::kInconclusive;
  verdict.vacuity = 1;
  return verdict;
}

// What a data family leaves without a signal: nothing can be said of it beyond that it is within
// its bounds.
bool says_nothing(const Case& test, const std::string& tensor) {
  const auto family = DataFamilies::all().find(test.data);
  return family != DataFamilies::all().end() && family->second.silent.contains(tensor);
}

// O, LSE and the gradients against float64, on exactly the q and k that were attended.
std::vector<TensorVerdict> judge_tensors(const Evidence& evidence, const AgainstReference& comparison) {
  const Case& test = evidence.test;
  const Promise promise = evidence.promise();
  const std::vector<Tally> tallies = comparison();
  std::vector<TensorVerdict> verdicts;
  for (size_t i = 0; i < tallies.size(); ++i) {
    const NamedTensor& named = kTensors[i];
    const at::Tensor& actual = evidence.outcome.tensors.*named.tensor;
    const int64_t heads = is_of_keys(named) ? 1 : test.q_heads / test.kv_heads;
    if (!actual.defined())
      verdicts.push_back(absent(evidence.outcome, named.name));
    else if (!comparison.comparable(i))
      verdicts.push_back(misshapen(named.name, actual.sizes(), shape_of(named, test)));
    else if (!comparison.judged(i))
      verdicts.push_back(unjudged(named.name));
    else
      verdicts.push_back(judge(test, named.name, {tallies[i], test.kv_heads, heads}));
    if (!comparison.sampled()) verdicts.back() = charted(promise, verdicts.back());
  }
  return verdicts;
}

// The truth is about the very q and k that were attended, rounded as the subject rounds them.
bool hides_what_was_attended(const Evidence& evidence) {
  return evidence.test.rope.pairing != Rope::Pairing::kNone &&
         !evidence.outcome.shows_rotated();
}

// Pads are none of the elements that are compared: of each tensor and rank whose hold something.
void judge_pads(const std::vector<RankRecord>& ranks, OracleVerdict& verdict) {
  for (size_t i = 0; i < verdict.tensors.size(); ++i) {
    TensorVerdict& tensor = verdict.tensors[i];
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      const int64_t wrong = ranks[rank].wrong_pads.at(i);
      if (wrong == 0) continue;
      const std::string what = c10::str("rank ", rank, " has pad slots of which ", wrong,
                                        wrong == 1 ? " element is" : " elements are", " not exactly empty");
      verdict.findings.push_back(tensor.tensor + ": " + what);
      tensor.status = Status::kFail;
      if (tensor.worst.empty()) tensor.worst = what;
    }
  }
}

OracleVerdict judge(const Evidence& evidence) {
  OracleVerdict verdict;
  if (hides_what_was_attended(evidence)) {
    verdict.status = Status::kInconclusive;
    verdict.findings = {"the subject does not show its rotated q and k, which it attended"};
    return verdict;
  }
  const AgainstReference comparison(evidence);
  verdict.tensors = judge_tensors(evidence, comparison);
  for (TensorVerdict& result : verdict.tensors) {
    if (result.status == Status::kInconclusive && says_nothing(evidence.test, result.tensor))
      result.status = Status::kNotApplicable;
    if (result.status == Status::kFail)
      verdict.findings.push_back(result.tensor + ": " + result.worst);
    if (result.status == Status::kNotApplicable && !evidence.outcome.withheld.contains(result.tensor))
      verdict.findings.push_back(result.tensor + ": judged by nobody, the truth has no signal");
    if (result.status == Status::kInconclusive)
      verdict.findings.push_back(result.tensor + ": a zero would pass for " +
                                 std::to_string(100 * result.vacuity) + " % of its energy");
  }
  judge_pads(evidence.outcome.ranks, verdict);
  for (std::string& line : comparison.said_of_kept()) verdict.findings.push_back(std::move(line));
  verdict.status = status_of(verdict.tensors);
  return verdict;
}

const Oracles::Add registered{
    "parity",
    {"O, L, dQ, dK and dV differ from float64 by no more than this arithmetic can explain", judge,
     {}, Oracle::Rigour::kBound, "30 products of S x S x d in float64 a head"}};

}  // namespace
}  // namespace ringcheck::parity
