// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/runner.h"

#include "cp/error.h"

namespace ringcheck::parity {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A case that cannot run has its verdict before it starts.
std::optional<Verdict> refused(const Case& test) {
  const auto reason = not_supported(test);
  if (!reason) return std::nullopt;
  Verdict verdict;
  verdict.test = test;
  verdict.status = Status::kNotSupported;
  verdict.reason = *reason;
  return verdict;
}

Verdict judged(const Case& test, const Outcome& outcome, const RunOptions& options) {
  const auto tick = [&] {
    if (options.observer) options.observer(0, {"judge"});
  };
  tick();
  const Problem problem = problem_of(test).to(outcome.tensors.o.device());
  Verdict verdict;
  verdict.test = test;
  verdict.ranks = outcome.ranks;
  for (const auto& [name, oracle] : Oracles::all()) {
    verdict.oracles.push_back(oracle.judge({test, problem, outcome, tick, options.sample}));
    verdict.oracles.back().name = name;
  }
  verdict.status = overall(verdict.oracles);
  if (verdict.status == Status::kInconclusive) verdict.reason = "no check of this case counts";
  for (const OracleVerdict& oracle : verdict.oracles)
    if (oracle.status == Status::kInconclusive && !oracle.findings.empty())
      verdict.reason = oracle.findings.front();
  return verdict;
}

Verdict failed(const Case& test, const RankFailure& failure) {
  Verdict verdict;
  verdict.test = test;
  verdict.status = failure.hang() ? Status::kHang : Status::kCrash;
  verdict.reason = failure.what();
  return verdict;
}

}  // namespace

Verdict verify(const Case& test, const RunOptions& options) {
  if (auto verdict = refused(test)) return *verdict;
  const auto begin = Clock::now();
  const ThreadWorld world{test.world, options.deadline, options.observer, device_type_of(test)};
  Verdict verdict;
  try {
    verdict = judged(test, solve(test, world, options.subject), options);
  } catch (const RankFailure& failure) {
    verdict = failed(test, failure);
  }
  verdict.seconds = seconds_since(begin);
  return verdict;
}

std::optional<Verdict> verify(const Case& test, Communicator& world, const RunOptions& options) {
  if (auto verdict = refused(test))
    return world.rank() == 0 ? verdict : std::optional<Verdict>();
  const auto begin = Clock::now();
  const std::optional<Outcome> outcome = solve(test, world, options.subject);
  if (!outcome) return std::nullopt;
  Verdict verdict = judged(test, *outcome, options);
  verdict.seconds = seconds_since(begin);
  return verdict;
}

}  // namespace ringcheck::parity
