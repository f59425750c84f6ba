// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Processes that pass their messages through the store of torchrun. The program starts itself once
// for each rank.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <cstdlib>
#include <memory>

#include "cli/process/programs.h"
#include "cp/worlds/store_world.h"
#include "property_tests/cli/launched_run.h"
#include "property_tests/cli/program.h"
#include "property_tests/cp/worlds/communicator_checks.h"
#include "property_tests/cp/worlds/rank_checks.h"

namespace ringcheck {
namespace {

// A value of the store holds 4 MiB: a message of less, of as much, of some more, of several, of none.
std::string any_size_arrives(Communicator& world, Session&) {
  constexpr int64_t kValue = 4 << 20;
  std::string wrong;
  for (const int64_t bytes : {int64_t{0}, kValue - 1, kValue, kValue + 1, 2 * kValue, 2 * kValue + 12345})
    wrong += checks::exchange_delivers(world, 1, bytes, at::kByte);
  return wrong + checks::all_gather_collects(world, 0) + checks::all_gather_collects(world, kValue / 3);
}

int as_rank(int argc, char** argv) {
  GTEST_FLAG_SET(filter, "StoreCommunicator.*");  // a rank starts no ranks
  StoreSession session;
  std::vector<RankCheck> list = checks_of_communicators();
  list.push_back({"AnySizeArrives", any_size_arrives});
  return run_rank_checks(session, argc, argv, "StoreCommunicator", list);
}

class Ranks : public ::testing::TestWithParam<int> {};

using Variables = std::map<std::string, std::string>;

void run_ranks(int world, const std::string& port, const Variables& further = {}) {
  std::vector<std::unique_ptr<testing::Running>> ranks;
  for (int rank = 0; rank < world; ++rank) {
    Variables variables{{"RANK", std::to_string(rank)}, {"WORLD_SIZE", std::to_string(world)},
                        {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", port}};
    variables.insert(further.begin(), further.end());
    ranks.push_back(std::make_unique<testing::Running>(std::vector<std::string>{cli::own_path()}, variables));
  }
  for (const auto& rank : ranks) {
    const testing::Ran ran = rank->wait();
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  }
}

TEST_P(Ranks, PassMessagesThroughTheStore) { run_ranks(GetParam(), testing::free_port()); }

INSTANTIATE_TEST_SUITE_P(Worlds, Ranks, ::testing::Values(1, 2, 3));

// A message that was taken is in the store no longer; what stays is who came and who left. Another attempt has keys of its own.
TEST(Store, KeepsNoMessagesAndNothingFromOneAttemptToTheNext) {
  c10d::TCPStoreOptions options;
  options.isServer = true;
  options.waitWorkers = false;
  c10d::TCPStore store("127.0.0.1", options);  // as torchrun's agent keeps it
  const auto attempt = [&](const char* count) {
    const int64_t before = store.getNumKeys();
    run_ranks(2, std::to_string(store.getPort()), {{"TORCHELASTIC_USE_AGENT_STORE", "True"}, {"TORCHELASTIC_RESTART_COUNT", count}});
    return store.getNumKeys() - before;
  };
  constexpr int64_t kCameAndLeft = 2 + 1;
  EXPECT_EQ(attempt("0"), kCameAndLeft);
  EXPECT_EQ(attempt("1"), kCameAndLeft);
}

}  // namespace
}  // namespace ringcheck

int main(int argc, char** argv) {
  if (std::getenv("RANK") != nullptr) return ringcheck::as_rank(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
