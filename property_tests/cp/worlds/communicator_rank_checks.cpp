// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "property_tests/cp/worlds/communicator_checks.h"
#include "property_tests/cp/worlds/rank_checks.h"

namespace ringcheck {
namespace {

RankCheck everywhere(const char* name, GroupCheck check) {
  return {name, [check = std::move(check)](Communicator& world, Session&) {
            return in_all_groups(world, check);
          }};
}

// Small messages go at once, large ones only when both sides are there.
std::string exchanges(Communicator& comm) {
  std::string wrong;
  for (const int shift : {0, 1, comm.size() - 1, comm.size()})
    wrong += checks::exchange_delivers(comm, shift, 300000, at::kFloat) +
             checks::exchange_delivers(comm, shift, 7, at::kDouble) +
             checks::exchange_delivers(comm, shift, 5, at::kBFloat16) +
             checks::exchange_delivers(comm, shift, 1, at::kByte);
  return wrong;
}

std::string splits(Communicator& comm) {
  std::vector<int> mixed, strided, same(comm.size(), 2), backwards, equal(comm.size(), 0);
  for (int r = 0; r < comm.size(); ++r) {
    mixed.push_back(r * 7 % 3);
    strided.push_back(r % 2);
    backwards.push_back(-r);
  }
  return checks::split_orders_by_key(comm, mixed, backwards) +
         checks::split_orders_by_key(comm, strided, equal) +
         checks::split_orders_by_key(comm, same, backwards) +
         checks::split_orders_by_key(comm, same, mixed);
}

std::string over_seeds(Communicator& comm, std::string (*check)(Communicator&, uint64_t)) {
  std::string wrong;
  for (uint64_t seed = 1; seed <= 5; ++seed)
    wrong += check(comm, seed);
  return wrong;
}

}  // namespace

std::vector<RankCheck> checks_of_communicators() {
  return {
      everywhere("ExchangeDelivers", exchanges),
      everywhere(
          "MessagesMatchInPostingOrder",
          [](Communicator& comm) { return checks::messages_match_in_posting_order(comm, 6); }),
      everywhere("MessagesOfOneTransferMatchInOrder",
                 [](Communicator& comm) {
                   return comm.size() == 1 ? ""
                                           : checks::messages_of_one_transfer_match_in_order(comm);
                 }),
      everywhere("PiecesArriveInTheirPlaces", checks::pieces_arrive_in_their_places),
      everywhere("MessagesToOneselfMatchInOrder", checks::messages_to_oneself_match_in_order),
      everywhere("AllGatherCollects",
                 [](Communicator& comm) { return checks::all_gather_collects(comm, 17); }),
      everywhere("AllGatherFillsOneBuffer",
                 [](Communicator& comm) {
                   return checks::all_gather_fills_one_buffer(comm, 64) +
                          checks::all_gather_fills_one_buffer(comm, 7);
                 }),
      everywhere("AllToAllDelivers",
                 [](Communicator& comm) { return over_seeds(comm, checks::all_to_all_delivers); }),
      everywhere("ReduceScatterAddsInRankOrder",
                 [](Communicator& comm) {
                   return over_seeds(comm, checks::reduce_scatter_adds_in_rank_order);
                 }),
      everywhere(
          "AgreementIsTheMaximum",
          [](Communicator& comm) { return over_seeds(comm, checks::agreement_is_the_maximum); }),
      everywhere(
          "LedgerCountsMessages",
          [](Communicator& comm) { return over_seeds(comm, checks::ledger_counts_messages); }),
      everywhere("BuffersAreFreeAfterWait", checks::buffers_are_free_after_wait),
      everywhere("ADroppedTransferCompletes", checks::a_dropped_transfer_completes),
      everywhere("SplitOrdersByKey", splits),
  };
}

}  // namespace ringcheck
