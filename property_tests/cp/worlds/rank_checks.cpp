// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/cp/worlds/rank_checks.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <iostream>

#include "cp/error.h"

namespace ringcheck {
namespace {

using namespace std::chrono_literals;

// Ends the whole job where a check throws: its peers would only wait for it.
std::string checked(const RankCheck& check, Communicator& world, Session& session) {
  try {
    return check.run(world, session);
  } catch (const std::exception& error) {
    std::cerr << "[rank " << world.rank() << "] " << check.name << ", in "
              << describe(world.ledger().current()) << ": " << error.what() << std::endl;
    session.abort(1);
  }
}

class AgreedTest final : public testing::Test {
 public:
  AgreedTest(const RankCheck& check, Communicator& world, Session& session)
      : check_(check), world_(world), session_(session) {}
  void TestBody() override {
    const std::string wrong = checked(check_, world_, session_);
    if (!wrong.empty())
      std::cerr << "[rank " << world_.rank() << "] " << check_.name << ": " << wrong << std::endl;
    EXPECT_EQ(world_.agree_max(int64_t{!wrong.empty()}), 0) << "a rank failed: " << wrong;
  }

 private:
  const RankCheck& check_;
  Communicator& world_;
  Session& session_;
};

}  // namespace

int run_rank_checks(Session& session, int argc, char** argv, const char* suite,
                    const std::vector<RankCheck>& checks) {
  at::set_num_threads(1);
  testing::InitGoogleTest(&argc, argv);
  const auto world = session.world(60s);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (session.rank() != 0)
    delete listeners.Release(listeners.default_result_printer());
  for (const RankCheck& check : checks)
    testing::RegisterTest(
        suite, check.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [&]() -> testing::Test* { return new AgreedTest(check, *world, session); });
  const int status = RUN_ALL_TESTS();
  const bool ran = testing::UnitTest::GetInstance()->successful_test_count() > 0;
  return world->agree_max(int64_t{status != 0 || !ran}) != 0;
}

std::string in_all_groups(Communicator& world, const GroupCheck& check) {
  std::string wrong = check(world);
  const int size = world.size(), rank = world.rank();
  const auto in = [&](const std::string& what, int color, int key) {
    const auto group = world.split(color, key);
    const std::string found = check(*group);
    if (!found.empty())
      wrong += what + ": " + found + "; ";
  };
  for (int n = 1; n < size; ++n) {
    in("the first " + std::to_string(n) + ", and the rest", rank < n ? 0 : 1, rank);
    in("the last " + std::to_string(n) + " reversed, and the rest", rank < size - n ? 0 : 1, -rank);
  }
  in("every second", rank % 2, rank);
  in("all reversed", 7, -rank);
  return wrong;
}

}  // namespace ringcheck
