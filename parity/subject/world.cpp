// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/world.h"

#include "cp/error.h"

namespace ringcheck::parity {
namespace {

const WholeSubject* whole(const Subject& subject) {
  return dynamic_cast<const WholeSubject*>(&subject);
}

// What goes wrong in it is a failure of the subject, as on a rank.
Outcome solved(const Run& run, const WholeSubject& subject) {
  try {
    return within_memory(run.test, 0, device_type_of(run.test), run.memory_model,
                         [&] { return solve_whole(run, subject); });
  } catch (const RankFailure&) {
    throw;
  } catch (const std::exception& error) {
    throw RankFailure(0, {"solve"}, false, error.what());
  }
}

}  // namespace

ThreadWorld threads_of(const Case& test, std::chrono::milliseconds deadline, Observer observer,
                       int first_device) {
  return {test.world, deadline, std::move(observer), device_type_of(test), first_device};
}

namespace {

// The same with every tensor negated: what leaks from a group into another one changes its numbers.
Run negated(Run run) {
  run.problem = [problem = run.problem](const Case& test, const Positions& positions) {
    Problem p = problem(test, positions);
    return Problem{-p.q, -p.k, -p.v, -p.d_o};
  };
  return run;
}

// Ranks of even and of odd number are two groups; each is split again, into its ranks in reverse.
std::optional<Outcome> solve_in_group(const Run& run, Communicator& everybody,
                                      const Subject& subject) {
  const bool counts = everybody.rank() % 2 == 1;
  const auto half = everybody.split(counts ? 1 : 0, everybody.rank());
  const auto group = half->split(0, -half->rank());
  auto outcome = solve_on_ranks(counts ? run : negated(run), *group, subject);
  return counts ? std::move(outcome) : std::nullopt;
}

}  // namespace

std::optional<Outcome> ThreadRanks::solve(const Run& run, const Subject& subject) {
  if (const WholeSubject* all = whole(subject)) return solved(run, *all);
  ThreadWorld threads = threads_of(run.test, deadline_, observer_, run.first_device);
  threads.size = ranks_of(run);
  std::optional<Outcome> outcome;
  ringcheck::run(threads, [&](Communicator& comm) {
    auto result = run.beside_another_group ? solve_in_group(run, comm, subject)
                                           : solve_on_ranks(run, comm, subject);
    if (result) outcome = std::move(result);
  });
  return outcome;
}

Outcome solve_on_threads(const Run& run, const Subject& subject,
                         std::chrono::milliseconds deadline) {
  return ThreadRanks(deadline).solve(run, subject).value();
}

ProcessRanks::ProcessRanks(Communicator& ranks)
    : ProcessRanks(ranks.rank(), [&ranks](const Case&) {
        return std::shared_ptr<Communicator>(std::shared_ptr<Communicator>(), &ranks);
      }) {}

std::optional<Outcome> ProcessRanks::solve(const Run& run, const Subject& subject) {
  const std::shared_ptr<Communicator> comm = connect_(run.test);
  if (observer_)
    comm->ledger().observe([this](const Operation& operation) { observer_(rank_, operation); });
  if (const WholeSubject* all = whole(subject))
    return is_first() ? std::optional(solved(run, *all)) : std::nullopt;
  return solve_on_ranks(run, *comm, subject);
}

}  // namespace ringcheck::parity
