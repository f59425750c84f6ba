// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/world.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>

#include "cp/error.h"
#include "parity/case/devices/on_device.h"

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

// Its tensors are made once, by all cores; a rank takes copies of its slots. What ranks make on
// their devices is there sooner than it would be dealt.
Run dealt(Run run) {
  if (run.problem.target<MadeOnRank>() != nullptr) return run;
  const Layout layout = layout_of(run);
  int64_t slots = 0;
  for (const auto* side : {&layout.queries, &layout.keys})
    for (const Positions& shard : *side)
      for (const Span& span : shard)
        slots = std::max(slots, span.begin + (span.count - 1) * span.stride + 1);
  const Problem whole = run.problem(run.test, {{0, slots}});
  for (const at::Tensor& x : {whole.q, whole.k, whole.v, whole.d_o})
    if (!x.is_contiguous() || x.storage_offset() != 0) return run;  // how it lies in memory is what the run is about
  run.problem = [whole](const Case&, const Positions& own) {
    const at::Tensor here = at::tensor(flatten(own), at::kLong);
    const auto take = [&](const at::Tensor& x) { return x.index_select(2, here); };
    return Problem{take(whole.q), take(whole.k), take(whole.v), take(whole.d_o)};
  };
  return run;
}

// The same with every tensor negated: what leaks from a group into another one changes its numbers.
Run negated(Run run) {
  run.problem = [problem = run.problem](const Case& test, const Positions& positions) {
    Problem p = problem(test, positions);
    return Problem{-p.q, -p.k, -p.v, -p.d_o};
  };
  return run;
}

// A group is in the order that was asked for.
void demand_rank(const Communicator& group, int asked) {
  if (group.rank() != asked)
    throw std::logic_error("split made rank " + std::to_string(group.rank()) + " of a group of what its key makes rank " +
                           std::to_string(asked));
}

// Ranks of even and of odd number are two groups; each is split again, into its ranks in reverse.
std::optional<Outcome> solve_in_group(const Run& run, Communicator& everybody,
                                      const Subject& subject) {
  const bool counts = everybody.rank() % 2 == 1;
  const auto half = everybody.split(counts ? 1 : 0, everybody.rank());
  const auto group = half->split(0, -half->rank());
  demand_rank(*half, everybody.rank() / 2);
  demand_rank(*group, half->size() - 1 - half->rank());
  auto outcome = solve_on_ranks(counts ? run : negated(run), *group, subject);
  return counts ? std::move(outcome) : std::nullopt;
}

}  // namespace

std::optional<Outcome> ThreadRanks::solve(const Run& asked, const Subject& subject) {
  if (const WholeSubject* all = whole(subject)) return solved(asked, *all);
  const Run run = dealt(asked);
  ThreadWorld threads = threads_of(run.test, deadline_, observer_, run.first_device);
  threads.size = ranks_of(run);
  std::optional<Outcome> outcome;
  ringcheck::run(threads, [&](Communicator& comm) {
    auto result = run.in_other_group ? solve_in_group(run, comm, subject)
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
  if (!run.in_other_group) return solve_on_ranks(run, *comm, subject);
  // The first rank stays the first: it knows what all of them returned.
  const bool first = comm->rank() == 0;
  const auto backwards = comm->split(0, first ? -comm->size() : -comm->rank());
  demand_rank(*backwards, first ? 0 : comm->size() - comm->rank());
  return solve_on_ranks(run, *backwards, subject);
}

}  // namespace ringcheck::parity
