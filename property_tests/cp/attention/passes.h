// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "cp/attention/context_parallel.h"
#include "cp/worlds/thread_world.h"
#include "parity/subject/ours.h"
#include "property_tests/test_device.h"
#include "reference/errors/bounds.h"

namespace ringcheck {

// Runs `body` on the ranks of a thread world; returns what each rank returned.
template <class Body>
auto on_every_rank(int size, const Body& body) {
  std::vector<std::invoke_result_t<Body, Communicator&>> results(size);
  run({size, std::chrono::seconds(60), {}, test_device_type()},
      [&](Communicator& comm) { results[comm.rank()] = body(comm); });
  return results;
}

// What one rank computed in a forward and a backward pass.
struct RankPass {
  reference::Tensors tensors;  // its slots, pads included
  at::Tensor q_rotated, k_rotated;
  std::shared_ptr<Ledger> ledger;
};

// The slots of one shard of the whole problem; those without a token hold `pads`.
parity::Problem local_problem(const parity::Case& test, const parity::Problem& whole,
                              const Positions& positions, double pads);

RankPass rank_pass(Communicator& comm, const parity::Case& test, const parity::Problem& local);

// A whole pass on a thread world.
struct Pass {
  std::vector<RankPass> ranks;
  reference::Tensors whole;  // in sequence order
  at::Tensor q_rotated, k_rotated;
};
Pass run_pass(const parity::Case& test, const parity::Problem& whole, double pads = 0);
inline Pass run_pass(const parity::Case& test) { return run_pass(test, parity::problem_of(test)); }

// The shards of all ranks in sequence order.
Pass together(const parity::Case& test, std::vector<RankPass> ranks);

// Where two results first differ in any bit, by tensor; "" where they do not.
std::string difference(const reference::Tensors& a, const reference::Tensors& b);
std::string difference(const Pass& a, const Pass& b);  // every slot of every rank

// What the reference says about a pass: it is given the pass's own rotated q and k.
reference::Judgement judgement(const parity::Case& test, const parity::Problem& problem,
                               const Pass& pass);

// The first element that is not within its worst-case bound, in words; "" where there is none.
std::string beyond(const reference::Tensors& actual, const reference::Judgement& judgement);

}  // namespace ringcheck
