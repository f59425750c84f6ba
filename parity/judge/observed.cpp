// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/observed.h"

#include <cstring>
#include <functional>

#include "cp/clock.h"
#include "cp/error.h"
#include "parity/case/devices/on_device.h"
#include "parity/judge/expected/expected.h"
#include "parity/judge/oracle.h"

namespace ringcheck::parity {
namespace {

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

// The run of the case itself. A subject that holds all ranks takes their tensors from the host.
Run own_run(const Case& test, const Subject& subject) {
  Run run{test};
  const bool rank_by_rank = dynamic_cast<const WholeSubject*>(&subject) == nullptr;
  if (rank_by_rank && can_be_made_on_ranks(test)) run.problem = MadeOnRank();
  return run;
}

std::string in_further_run(const std::string& oracle) { return "in a further run, for " + oracle + ", "; }

// A tensor that a further run lacks is missing, too.
void note_missing(const std::string& oracle, const Outcome& run, Outcome& whole) {
  for (const std::string& what : run.missing) whole.missing.push_back(in_further_run(oracle) + what);
}

// Whoever reads of a failure would repeat the case's own run, which is no more than the first one.
std::optional<Outcome> naming(const std::string& oracle, const std::function<std::optional<Outcome>()>& run) {
  try {
    return run();
  } catch (const RankFailure& failure) {
    const auto with = [&](const std::string& why) {
      return RankFailure(failure.rank(), failure.operation(), failure.hang(), why);
    };
    throw with(in_further_run(oracle) + (failure.what() + std::strlen(with("").what())));
  } catch (const Timeout& timeout) {
    throw Timeout(in_further_run(oracle) + timeout.what());
  }
}

}  // namespace

int64_t modelled_bytes(const Case& test, int rank) {
  return expected_counters(test).at(rank).peak_bytes;
}

std::optional<Observed> observe(const Case& test, const Subject& subject, World& world,
                                const std::vector<std::string>& oracles, bool timelines) {
  const auto solved = [&](Run run) {
    run.memory_model = modelled_bytes;
    return world.solve(run, subject);
  };
  Run own = own_run(test, subject);
  own.timeline = timelines;
  std::optional<Outcome> outcome = solved(std::move(own));
  Observed observed;
  const Variations variations = variations_of(test, subject, oracles);
  observed.no_variations = variations.missing;
  for (const auto& [oracle, runs] : variations.runs) {
    const auto begin = Clock::now();
    for (const Run& run : runs)
      if (auto other = naming(oracle, [&] { return solved(run); })) observed.variations[oracle].push_back(std::move(*other));
    observed.seconds[oracle] = seconds_since(begin);
  }
  if (!outcome) return std::nullopt;
  observed.outcome = std::move(*outcome);
  for (const auto& [oracle, runs] : observed.variations)
    for (const Outcome& run : runs) note_missing(oracle, run, observed.outcome);
  return observed;
}

}  // namespace ringcheck::parity
