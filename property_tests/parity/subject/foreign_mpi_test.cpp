// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// A subject that calls MPI itself is counted by PMPI: what it moves beside its strategy fails
// `counters`.
#include <dlfcn.h>

#include <algorithm>
#include <stdexcept>

#include "cp/ledger/bypass.h"
#include "parity/case/text.h"
#include "parity/subject/outcome.h"
#include "cp/worlds/mpi_world.h"
#include "property_tests/cp/worlds/rank_checks.h"
#include "property_tests/parity/subject/foreign.h"

namespace ringcheck {
namespace {

using parity::Case;

template <class Function>
Function* foreign(const char* name) {
  static void* library = ::dlopen(RINGCHECK_FOREIGN_MPI, RTLD_NOW | RTLD_LOCAL);
  void* found = library == nullptr ? nullptr : ::dlsym(library, name);
  if (found == nullptr) throw std::runtime_error(::dlerror());
  return reinterpret_cast<Function*>(found);
}

Exchange by_mpi(Communicator&) {
  return [](const at::Tensor& send, int to, const at::Tensor& receive, int from) {
    foreign<void(const void*, int, void*, int, int)>("foreign_exchange")(
        send.const_data_ptr(), to, receive.mutable_data_ptr(), from,
        static_cast<int>(send.nbytes()));
  };
}

Case case_of(int world) {
  Case test = parity::parse_case("ring:p2p/headtail/plain/causal/b2/hq4/hkv2/s48/d16/dv24/bf16");
  test.world = world;
  return test;
}

// The findings of a subject, on rank 0; nothing on the others.
std::vector<std::string> findings(Communicator& world, int extra,
                                  std::function<void(parity::Promise&)> promise = {}) {
  const Case test = case_of(world.size());
  const auto subject = moving_by(by_mpi, extra, std::move(promise));
  const auto outcome = parity::solve_on_ranks({test}, world, *subject);
  return outcome ? counters_of(test, *subject, *outcome).findings : std::vector<std::string>();
}

std::string listed(const std::vector<std::string>& findings) {
  std::string text;
  for (const std::string& finding : findings) text += finding + "; ";
  return text;
}

std::string passes_where_it_moves_what_its_strategy_moves(Communicator& world, Session&) {
  return listed(findings(world, 0));
}

std::string a_block_outside_the_passes_is_named(Communicator& world, Session&) {
  const std::vector<std::string> found = findings(world, 1);
  std::string wrong;
  for (int rank = 0; rank < world.size() && world.rank() == 0; ++rank)
    if (std::ranges::find(found, block_outside(case_of(world.size()), rank)) == found.end())
      wrong += "rank " + std::to_string(rank) + " is not named in " + listed(found);
  return wrong;
}

// One that says nothing of its passes is judged by the whole call.
std::string the_whole_call_is_judged(Communicator& world, Session&) {
  const auto says_nothing = [](parity::Promise& promise) { promise.counts.clear(); };
  const auto of_traffic = [](std::vector<std::string> found) {
    std::erase_if(found,
                  [](const auto& text) { return text.find("does not count it") != text.npos; });
    return listed(found);
  };
  const std::string clean = of_traffic(findings(world, 0, says_nothing));
  const std::string extra = of_traffic(findings(world, 1, says_nothing));
  if (!clean.empty()) return clean;
  if (world.rank() != 0) return "";
  const std::string expected = "rank 1 bytes sent in the whole call: ";
  return extra.find(expected) == std::string::npos ? "not named in " + extra : "";
}

// As the messages that would carry them.
std::string collectives_are_counted(Communicator& world, Session&) {
  constexpr int64_t n = 40;
  Ledger ledger;
  {
    const Witnessed witnessed(ledger, {});  // MPI knows its groups
    foreign<void(int)>("foreign_collectives")(n);
  }
  const int64_t others = world.size() - 1;
  const bool root = world.rank() == 0;
  const int64_t bytes = n * (3 * others + (root ? 2 * others : 2) + 1);
  const Traffic traffic = ledger.traffic();
  if (traffic.bytes_sent == bytes && traffic.bytes_received == bytes) return "";
  return "sent " + std::to_string(traffic.bytes_sent) + ", received " +
         std::to_string(traffic.bytes_received) + ", expected " + std::to_string(bytes);
}

// Between each two ranks, where parts are uneven: in sum what is taken for sent and for received may stand for each other.
std::string uneven_collectives_are_counted(Communicator& world, Session&) {
  constexpr int64_t n = 8;
  Ledger ledger;
  {
    const Witnessed witnessed(ledger, {});  // MPI knows its groups
    foreign<void(int)>("foreign_uneven_collectives")(n);
  }
  const Traffic traffic = ledger.traffic();
  const int64_t own = world.rank();
  std::string wrong;
  for (int64_t peer = 0; peer < world.size(); ++peer) {
    if (peer == own) continue;
    const Traffic::Edge edge = traffic.peers.at(static_cast<int>(peer));
    const int64_t gathered = own + 1, scattered = peer + 1, sent = 1 + own + 2 * peer, received = 1 + peer + 2 * own;
    const int64_t out = 2 * n * (gathered + scattered + 2 * sent), in = 2 * n * (scattered + gathered + 2 * received);
    if (edge.sent != out || edge.received != in)
      wrong += "rank " + std::to_string(peer) + ": sent " + std::to_string(edge.sent) + " and received " +
               std::to_string(edge.received) + ", expected " + std::to_string(out) + " and " + std::to_string(in) + "; ";
  }
  return wrong;
}

std::string nobody_is_witnessed_here(Communicator& world, Session&) {
  const Traffic before = world.ledger().traffic();
  foreign<void(int)>("foreign_collectives")(8);
  return world.ledger().traffic().since(before).bytes_sent == 0 ? "" : "counted for nobody";
}

}  // namespace
}  // namespace ringcheck

int main(int argc, char** argv) {
  using namespace ringcheck;
  MpiSession session(argc, argv);
  return run_rank_checks(
      session, argc, argv, "ForeignMpi",
      {{"PassesWhereItMovesWhatItsStrategyMoves", passes_where_it_moves_what_its_strategy_moves},
       {"ABlockOutsideThePassesIsNamed", a_block_outside_the_passes_is_named},
       {"TheWholeCallIsJudged", the_whole_call_is_judged},
       {"CollectivesAreCounted", collectives_are_counted},
       {"UnevenCollectivesAreCounted", uneven_collectives_are_counted},
       {"WithoutAWitnessNothingIsCounted", nobody_is_witnessed_here}});
}
