// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "cp/error.h"
#include "cp/worlds/mpi_world.h"
#include "property_tests/cp/worlds/communicator_checks.h"
#include "property_tests/cp/worlds/rank_checks.h"

namespace ringcheck {
namespace {

using namespace std::chrono_literals;

std::string refused(const std::function<void()>& use, const char* what) {
  try {
    use();
  } catch (const std::exception&) {
    return "";
  }
  return std::string("accepted ") + what;
}

// Nothing is posted where a message is refused, so nothing is left behind.
std::string a_strided_message_is_refused(Communicator& world, Session&) {
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
std::string a_wrong_size_is_an_error(Communicator& world, Session&) {
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
std::string a_missing_partner_is_a_timeout(Communicator& world, Session& session) {
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
std::string an_abandoned_message_meets_no_later_world(Communicator& world, Session& session) {
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

std::vector<RankCheck> all_checks() {
  std::vector<RankCheck> checks = checks_of_communicators();
  for (RankCheck check : std::vector<RankCheck>{
           {"AStridedMessageIsRefused", a_strided_message_is_refused},
           {"AWrongSizeIsAnError", a_wrong_size_is_an_error},
           {"AMissingPartnerIsATimeout", a_missing_partner_is_a_timeout},
           {"AnAbandonedMessageMeetsNoLaterWorld", an_abandoned_message_meets_no_later_world}})
    checks.push_back(std::move(check));
  return checks;
}

}  // namespace
}  // namespace ringcheck

int main(int argc, char** argv) {
  ringcheck::MpiSession session(argc, argv);
  return ringcheck::run_rank_checks(session, argc, argv, "MpiCommunicator", ringcheck::all_checks());
}
