// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "cp/error.h"
#include "property_tests/cp/worlds/communicator_checks.h"
#include "property_tests/cp/worlds/mpi_checks.h"

namespace ringcheck {
namespace {

using namespace std::chrono_literals;

MpiCheck everywhere(const char* name, GroupCheck check) {
  return {name, [check = std::move(check)](Communicator& world, MpiSession&) {
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

std::string refused(const std::function<void()>& use, const char* what) {
  try {
    use();
  } catch (const std::exception&) {
    return "";
  }
  return std::string("accepted ") + what;
}

// Nothing is posted where a message is refused, so nothing is left behind.
std::string a_strided_message_is_refused(Communicator& world, MpiSession&) {
  const at::Tensor strided = at::ones({4, 4}).t(), plain = at::ones({4, 4});
  return refused(
             [&] {
               std::ignore = world.transfer({{strided, world.right()}}, {}, {"test"});
             },
             "a strided send") +
         refused(
             [&] {
               std::ignore = world.transfer({}, {{strided, world.left()}}, {"test"});
             },
             "a strided receive");
}

// A message that is shorter than its buffer is an error of the receiver.
std::string a_wrong_size_is_an_error(Communicator& world, MpiSession&) {
  const auto group = world.split(0, world.rank());
  const at::Tensor receive = at::empty({5});
  return refused(
      [&] {
        group->exchange(at::ones({3}), group->right(), receive, group->left(), {"test"}).wait();
      },
      "a message of another size");
}

// A partner that does not come ends the wait at the deadline, naming operation and peer; once it
// comes, finish() completes what was posted.
std::string a_missing_partner_is_a_timeout(Communicator& world, MpiSession& session) {
  if (world.size() == 1)
    return "";
  const auto impatient = session.world(1500ms)->split(world.rank() < 2 ? 0 : 1, world.rank());
  if (world.rank() >= 2) {
    world.agree_max(int64_t{0});
    return "";
  }
  std::string wrong;
  const at::Tensor receive = at::zeros({3});
  if (world.rank() == 1) {
    const auto begin = std::chrono::steady_clock::now();
    try {
      impatient->transfer({}, {{receive, 0}}, {"late", 6}).wait();
      wrong = "nothing was missing";
    } catch (const Timeout&) {
      const std::string now = describe(impatient->ledger().current());
      if (now != "late, step 6, peer 0")
        wrong = "the wait was for " + now;
    }
    const auto time = std::chrono::steady_clock::now() - begin;
    if (time < 1500ms || time > 20s)
      wrong += "; not at the deadline";
  }
  world.agree_max(int64_t{0});
  if (world.rank() == 0)
    std::ignore = impatient->transfer({{at::ones({3}), 1}}, {}, {"late", 6});
  impatient->finish();
  if (world.rank() == 1 && !receive.eq(1).all().item<bool>())
    wrong += "; finish() left it undone";
  return wrong;
}

// What an earlier world, or a group of it, left on its way is not taken for another's.
std::string an_abandoned_message_meets_no_later_world(Communicator& world, MpiSession& session) {
  if (world.size() == 1) return "";
  const auto before = session.world(60s), before_split = before->split(61, world.rank());
  const at::Tensor stray = at::full({5}, -1.0);
  for (Communicator* comm : {before.get(), before_split.get()})
    std::ignore = comm->transfer({{stray, comm->right()}}, {}, {"abandoned"});
  const auto after = session.world(60s), after_split = after->split(0, world.rank());
  std::string wrong;
  for (Communicator* comm : {after.get(), after_split.get()})
    wrong += checks::exchange_delivers(*comm, 1, 5, at::kFloat);
  const at::Tensor taken = at::empty({5});
  for (Communicator* comm : {before.get(), before_split.get()}) {
    comm->transfer({}, {{taken, comm->left()}}, {"abandoned"}).wait();
    comm->finish();
    if (!taken.equal(stray)) wrong += "the abandoned message was taken; ";
  }
  return wrong;
}

std::vector<MpiCheck> all_checks() {
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
      {"AStridedMessageIsRefused", a_strided_message_is_refused},
      {"AWrongSizeIsAnError", a_wrong_size_is_an_error},
      {"AMissingPartnerIsATimeout", a_missing_partner_is_a_timeout},
      {"AnAbandonedMessageMeetsNoLaterWorld", an_abandoned_message_meets_no_later_world},
  };
}

}  // namespace
}  // namespace ringcheck

int main(int argc, char** argv) {
  return ringcheck::run_mpi_checks(argc, argv, "MpiCommunicator", ringcheck::all_checks());
}
