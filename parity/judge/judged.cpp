// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/judged.h"

#include <c10/util/StringUtil.h>

#include <algorithm>

#include "cp/clock.h"
#include "parity/judge/comparison.h"
#include "parity/judge/devices/one_thread.h"
#include "parity/judge/oracle.h"
#include "parity/judge/rotated.h"

namespace ringcheck::parity {
namespace {

std::vector<Outcome> variations_for(const std::string& oracle, const Observed& observed) {
  const auto found = observed.variations.find(oracle);
  return found == observed.variations.end() ? std::vector<Outcome>() : found->second;
}

bool is_rotated(const Case& test, const Outcome& outcome) {
  return test.rope.pairing != Rope::Pairing::kNone && outcome.shows_rotated();
}

// Who judges: those that were asked, and whatever they are, `returned` where a tensor is missing, and
// `rope` where the truth is about the q and k that the subject says it attended.
std::vector<std::string> judges(const Case& test, const Observed& observed,
                                std::vector<std::string> names) {
  const auto also = [&](const char* name) {
    if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  };
  const bool of_values = std::ranges::any_of(
      names, [](const std::string& name) { return Oracles::at(name).about() != About::kForm; });
  if (!observed.outcome.missing.empty()) also("returned");
  if (of_values && is_rotated(test, observed.outcome)) also("rope");
  return names;
}

// The first tensor that is not there and without which the oracle says nothing: relations are about O.
std::optional<std::string> lacking(const Oracle& oracle, const Evidence& evidence) {
  const auto lacks = [&](const Outcome& outcome, const NamedTensor& named) {
    return !(outcome.tensors.*named.tensor).defined();
  };
  for (const NamedTensor& named : kTensors)
    if ((oracle.reads.contains(named.name) ||
         (oracle.variations && named.tensor == &reference::Tensors::o)) &&
        (lacks(evidence.outcome, named) ||
         std::ranges::any_of(evidence.variations, [&](const Outcome& o) { return lacks(o, named); })))
      return named.name;
  return std::nullopt;
}

// The q and k that a further run says it attended are judged as those of the case are: its truth is
// about them.
void judge_rotated_of(const Evidence& evidence, const std::vector<Run>& runs, OracleVerdict& result) {
  for (size_t i = 0; i < std::min(runs.size(), evidence.variations.size()); ++i) {
    const Case& test = runs[i].test;
    const Outcome& outcome = evidence.variations[i];
    if (!is_rotated(test, outcome)) continue;
    const Problem problem =
        runs[i].problem(test, {{0, test.seq}}).to(outcome.q_rotated.device());
    for (TensorVerdict& tensor : judge_rotated(test, evidence.promise(), problem, outcome))
      if (tensor.status == Status::kFail) {
        result.status = Status::kFail;
        result.findings.push_back(c10::str("further run ", i, ", rotated ", tensor.tensor, ": ",
                                           tensor.worst));
      }
  }
}

// What a relation says of tensors that are not there is nothing.
OracleVerdict judged_by(const Oracle& oracle, const Evidence& evidence,
                        const std::optional<std::string>& no_variations) {
  OracleVerdict result;
  result.status = Status::kNotApplicable;
  if (oracle.variations && evidence.variations.empty()) {
    result.findings = {no_variations          ? *no_variations
                       : oracle.needs.empty() ? "no further run of this case says anything"
                                              : "needs " + oracle.needs};
    return result;
  }
  if (const auto name = lacking(oracle, evidence)) {
    result.findings = {"needs " + *name + ", which is not there"};
    return result;
  }
  result = oracle.judge(evidence);
  if (oracle.variations) judge_rotated_of(evidence, oracle.variations(evidence.test), result);
  return result;
}

// Where bits of runs differ, that may be because no two runs agree: `repetition` knows, or is to be asked.
void explain_bits(std::vector<OracleVerdict>& oracles) {
  const std::string asks = "repetition";
  const auto repetition = std::ranges::find(oracles, asks, &OracleVerdict::name);
  for (OracleVerdict& oracle : oracles) {
    const bool bits_differ = std::ranges::count(oracle.tensors, Status::kFail, &TensorVerdict::status) > 0;
    if (!bits_differ || oracle.name == asks || !Oracles::at(oracle.name).demand.same_bits) continue;
    if (repetition == oracles.end() || repetition->status == Status::kNotApplicable)
      oracle.findings.push_back("whether the same call repeats its bits at all, says --oracles " + asks);
    else if (repetition->status == Status::kFail)
      oracle.findings.push_back("the same call does not repeat its bits either: " + asks);
  }
}

}  // namespace

Verdict judged(const Trial& trial, const Problem& problem, const Observed& observed) {
  const Case& test = trial.test;
  const OneThread alone;
  Verdict verdict;
  verdict.test = test;
  verdict.ranks = observed.outcome.ranks;
  for (const std::string& name : judges(test, observed, trial.oracles)) {
    const std::vector<Outcome> others = variations_for(name, observed);
    const auto begin = Clock::now();
    const Evidence evidence{test,   trial.subject, problem,     observed.outcome,
                            others, trial.tick,    trial.sample, trial.kept};
    const auto missing = observed.no_variations.find(name);
    OracleVerdict result =
        judged_by(Oracles::at(name), evidence,
                  missing == observed.no_variations.end() ? std::nullopt
                                                          : std::optional(missing->second));
    result.name = name;
    result.about = Oracles::at(name).about();
    const auto runs = observed.seconds.find(name);
    result.seconds = seconds_since(begin) + (runs == observed.seconds.end() ? 0 : runs->second);
    verdict.oracles.push_back(std::move(result));
  }
  explain_bits(verdict.oracles);
  verdict.status = overall(verdict.oracles);
  verdict.judged = judged_of(verdict.oracles, test.world);
  if (verdict.status == Status::kInconclusive)
    verdict.reason = "no check of the values of this case counts";
  for (const OracleVerdict& oracle : verdict.oracles)
    if (oracle.status == Status::kInconclusive && !oracle.findings.empty())
      verdict.reason = oracle.findings.front();
  return verdict;
}

}  // namespace ringcheck::parity
