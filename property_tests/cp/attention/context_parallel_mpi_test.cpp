// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/subject/ours.h"
#include "parity/subject/world.h"
#include "property_tests/parity/case/generators.h"
#include "cp/worlds/mpi_world.h"
#include "property_tests/cp/worlds/rank_checks.h"
#include "property_tests/cp/attention/passes.h"

namespace ringcheck {
namespace {

using namespace std::chrono_literals;

// Every rotation and further strategy, balancer, mask, dtype, RoPE and head layout at least once; the world is that of
// the group.
const char* const kCases[] = {
    "ring:p2p/headtail/plain/causal/b2/hq4/hkv2/s37/d8/dv6/bf16/rope:half[10000]",
    "ring:p2p/contiguous/flash/full/hq4/hkv4/s24/d8/float32",
    "ring:p2p/striped[3]/plain/doc[9:12,8,1:3,14]/hq2/hkv1/s37/d4/dv7/fp16",
    "ring:alltoall/headtail/plain/window[6]/hq6/hkv2/s41/d8/float32/rope:interleaved[100]",
    "ring:alltoall/striped[1]/flash/causal/hq2/hkv2/s32/d16/bf16",
    "ring:alltoall/contiguous/plain/prefix[11]/hq3/hkv3/s1/d8/float64",
    "ring:allgather/headtail/plain/docfull[17,5:9,11]/b2/hq4/hkv1/s37/d8/float32",
    "ring:allgather[keep]/contiguous/plain/causal/hq4/hkv2/s30/d8/float64/rope:half[500000,llama3]",
    "ring:allgather[keep]/striped[2]/plain/full/hq2/hkv1/s3/d8/bf16/scale:0.25",
    "gathered/headtail/plain/causal/b2/hq8/hkv4/s37/d8/dv6/bf16/rope:half[10000]",
    "gathered[1]/striped[3]/flash/doc[9:12,8,1:3,14]/hq4/hkv2/s37/d8/float32",
    "ulysses/headtail/plain/causal/b2/hq24/hkv12/s37/d8/dv6/bf16/rope:half[10000]",
    "ulysses/striped[3]/flash/doc[9:12,8,1:3,14]/hq12/hkv12/s37/d8/float32"};

std::string unlike(const parity::Outcome& mpi, const parity::Outcome& threads) {
  std::string wrong = difference(mpi.tensors, threads.tensors) +
                      difference(mpi.q_rotated, threads.q_rotated) +
                      difference(mpi.k_rotated, threads.k_rotated);
  if (mpi.ranks.size() != threads.ranks.size())
    return wrong + "another number of ranks";
  for (size_t rank = 0; rank < mpi.ranks.size(); ++rank)
    if (mpi.ranks[rank] != threads.ranks[rank])
      wrong += "other counters on rank " + std::to_string(rank) + "; ";
  return wrong;
}

// The outcome on processes is that on threads, bit for bit and count for count, and within the
// bounds of attention.
std::string same_as_threads(Communicator& group, parity::Case test) {
  test.world = group.size();
  const auto mpi = parity::solve_on_ranks({test}, group, *parity::ours());
  if (group.rank() != 0)
    return mpi ? "an outcome on another rank than 0" : "";
  std::string wrong = unlike(*mpi, parity::solve_on_threads({test}, *parity::ours()));
  const parity::Problem problem = parity::problem_of(test);
  Pass pass;
  pass.q_rotated = mpi->q_rotated.defined() ? mpi->q_rotated : problem.q;
  pass.k_rotated = mpi->k_rotated.defined() ? mpi->k_rotated : problem.k;
  wrong += beyond(mpi->tensors, judgement(test, problem, pass));
  return wrong.empty() ? "" : parity::to_text(test) + ": " + wrong;
}

// Groups of the world are numbered by their own ranks; the ledger names world ranks.
std::string peers_are_world_ranks(Communicator& group) {
  parity::Case test = parity::parse_case("ring:p2p/headtail/plain/causal/hq2/hkv1/s24/d8/float32");
  test.world = group.size();
  const size_t before = group.ledger().transfers().size();
  const parity::Problem whole = parity::problem_of(test);
  rank_pass(group, test, local_problem(test, whole, parity::layout_of(test).queries[group.rank()], 0));
  std::string wrong;
  for (size_t i = before; i < group.ledger().transfers().size(); ++i) {
    const Transferred& event = group.ledger().transfers()[i];
    const bool sent = event.direction == Transferred::Direction::kSent;
    if (event.operation.peer != group.world_rank(sent ? group.right() : group.left()))
      wrong += "a stranger as peer; ";
  }
  const bool alone = group.size() == 1;
  return alone == (before == group.ledger().transfers().size()) ? wrong : wrong + "no traffic";
}

std::vector<RankCheck> all_checks() {
  std::vector<RankCheck> checks;
  for (const char* text : kCases)
    checks.push_back(
        {"IsLikeThreads/" + std::string(text), [text](Communicator& world, Session&) {
           return in_all_groups(world, [&](Communicator& group) {
             return same_as_threads(group, parity::parse_case(text));
           });
         }});
  checks.push_back({"PeersAreWorldRanks", [](Communicator& world, Session&) {
                      return in_all_groups(world, peers_are_world_ranks);
                    }});
  return checks;
}

}  // namespace
}  // namespace ringcheck

int main(int argc, char** argv) {
  ringcheck::MpiSession session(argc, argv);
  return ringcheck::run_rank_checks(session, argc, argv, "ContextParallelMpi", ringcheck::all_checks());
}
