// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/runner.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <map>

#include "cp/error.h"
#include "parity/judge/comparison.h"
#include "parity/judge/expected/expected.h"
#include "parity/judge/devices/one_thread.h"
#include "parity/judge/rotated.h"
#include "parity/subject/out_of_memory.h"

namespace ringcheck::parity {
namespace {

using Clock = std::chrono::steady_clock;

int64_t model(const Case& test, int rank) { return expected_counters(test).at(rank).peak_bytes; }

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A case that cannot run has its verdict before it starts.
std::optional<Verdict> refused(const Case& test, const Subject& subject) {
  const auto reason = subject.refuses(test);
  if (!reason) return std::nullopt;
  Verdict verdict;
  verdict.test = test;
  verdict.status = Status::kNotSupported;
  verdict.reason = *reason;
  return verdict;
}

// The runs that the chosen oracles ask for beside that of the case, by oracle, and why an oracle gets
// none: its demand on the subject is not met, or one of its runs is not supported.
struct Variations {
  std::map<std::string, std::vector<Run>> runs;
  std::map<std::string, std::string> missing;
};

Variations variations_of(const Case& test, const Subject& subject,
                         const std::vector<std::string>& oracles) {
  const Promise promise = subject.promise(test);
  Variations variations;
  for (const std::string& name : oracles) {
    const Oracle& oracle = Oracles::at(name);
    if (!oracle.variations) continue;
    std::vector<Run> runs;
    std::string missing;
    if (const auto unmet = oracle.demand.unmet(promise)) missing = "needs " + *unmet;
    else runs = oracle.variations(test);
    for (const Run& run : runs)
      if (const auto reason = refuses(run, subject); reason && missing.empty())
        missing = "a further run is not supported: " + *reason;
    if (missing.empty()) variations.runs[name] = std::move(runs);
    else variations.missing[name] = missing;
  }
  return variations;
}

at::Device device_of(const Outcome& outcome) {
  for (const auto& [name, tensor] : kTensors)
    if ((outcome.tensors.*tensor).defined()) return (outcome.tensors.*tensor).device();
  return at::kCPU;
}

// What the subject did: in the run of the case, and in the others, and how long these took.
struct Observed {
  Outcome outcome;
  std::map<std::string, std::vector<Outcome>> variations;
  std::map<std::string, std::string> no_variations;  // why an oracle has none
  std::map<std::string, double> seconds;
};

// A tensor that a further run lacks is missing, too.
void note_missing(const std::string& oracle, const Outcome& run, Outcome& whole) {
  for (const std::string& what : run.missing)
    whole.missing.push_back("in a further run, for " + oracle + ", " + what);
}

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

Verdict judged(const Case& test, const Subject& subject, const Observed& observed,
               const std::vector<std::string>& oracles, const RunOptions& options) {
  const auto tick = [&] {
    if (options.observer) options.observer(0, {"judge"});
  };
  tick();
  const Problem problem = problem_of(test).to(device_of(observed.outcome));
  const OneThread alone;
  Verdict verdict;
  verdict.test = test;
  verdict.ranks = observed.outcome.ranks;
  for (const std::string& name : judges(test, observed, oracles)) {
    const std::vector<Outcome> others = variations_for(name, observed);
    const auto begin = Clock::now();
    const Evidence evidence{test, subject, problem, observed.outcome, others, tick, options.judging.sample};
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
  verdict.status = overall(verdict.oracles);
  verdict.judged = judged_of(verdict.oracles, test.world);
  if (verdict.status == Status::kInconclusive)
    verdict.reason = "no check of the values of this case counts";
  for (const OracleVerdict& oracle : verdict.oracles)
    if (oracle.status == Status::kInconclusive && !oracle.findings.empty())
      verdict.reason = oracle.findings.front();
  return verdict;
}

// Judging needs memory, too; where there is too little of it, nothing is known about the subject.
Verdict judged_within_memory(const Case& test, const Subject& subject, const Observed& observed,
                             const std::vector<std::string>& oracles, const RunOptions& options) {
  const at::Device device = device_of(observed.outcome);
  try {
    return within_memory(test, 0, device, model,
                         [&] { return judged(test, subject, observed, oracles, options); });
  } catch (const OutOfMemory& error) {
    Verdict verdict;
    verdict.test = test;
    verdict.status = Status::kInconclusive;
    verdict.reason = std::string("not judged, as the reference ran ") + error.what();
    verdict.ranks = observed.outcome.ranks;
    return verdict;
  }
}

Verdict failed(const Case& test, const RankFailure& failure) {
  Verdict verdict;
  verdict.test = test;
  verdict.status = failure.hang() ? Status::kHang : Status::kCrash;
  verdict.reason = failure.what();
  return verdict;
}

// Everything that the subject is asked to do, on every process of the world; what it did is known on
// the first one.
std::optional<Observed> observe(const Case& test, const Subject& subject, World& world,
                                const std::vector<std::string>& oracles) {
  const auto solved = [&](Run run) {
    run.memory_model = model;
    return world.solve(run, subject);
  };
  std::optional<Outcome> outcome = solved({test});
  Observed observed;
  const Variations variations = variations_of(test, subject, oracles);
  observed.no_variations = variations.missing;
  for (const auto& [oracle, runs] : variations.runs) {
    const auto begin = Clock::now();
    for (const Run& run : runs)
      if (auto other = solved(run)) observed.variations[oracle].push_back(std::move(*other));
    observed.seconds[oracle] = seconds_since(begin);
  }
  if (!outcome) return std::nullopt;
  observed.outcome = std::move(*outcome);
  for (const auto& [oracle, runs] : observed.variations)
    for (const Outcome& run : runs) note_missing(oracle, run, observed.outcome);
  return observed;
}

}  // namespace

std::optional<Verdict> verify(const Case& test, World& world, const RunOptions& options) {
  const SharedSubject subject = options.subject ? options.subject : subject_of(test);
  if (auto verdict = refused(test, *subject)) return world.is_first() ? verdict : std::nullopt;
  validate(subject->promise(test), test.subject);
  const auto begin = Clock::now();
  const std::vector<std::string> oracles = oracles_for(options.judging, test, *subject);
  try {
    const auto observed = observe(test, *subject, world, oracles);
    if (!observed) return std::nullopt;
    Verdict verdict = judged_within_memory(test, *subject, *observed, oracles, options);
    verdict.seconds = seconds_since(begin);
    return verdict;
  } catch (const RankFailure& failure) {
    Verdict verdict = failed(test, failure);
    verdict.seconds = seconds_since(begin);
    return verdict;
  }
}

Verdict verify(const Case& test, const RunOptions& options) {
  ThreadRanks threads(options.deadline, options.observer);
  return verify(test, threads, options).value();
}

}  // namespace ringcheck::parity
