// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "cp/worlds/one_host.h"
#include "property_tests/cp/attention/passes.h"

namespace ringcheck {
namespace {

TEST(Share, EveryRankHearsEveryRank) {
  const auto heard = on_every_rank(3, [](Communicator& comm) {
    return share(comm, std::array<int, 2>{comm.rank(), 7 * comm.rank()}, {"share"});
  });
  for (const auto& all : heard)
    EXPECT_THAT(all, testing::ElementsAre(std::array{0, 0}, std::array{1, 7}, std::array{2, 14}));
}

// What a rank hears that refuses, where ranks refuse by these reasons.
std::vector<std::string> heard_by(const std::vector<std::optional<std::string>>& reasons) {
  return on_every_rank(static_cast<int>(reasons.size()), [&](Communicator& comm) -> std::string {
    try {
      refuse_together(comm, reasons[comm.rank()]);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "begun";
  });
}

TEST(RefuseTogether, WhereNobodyRefusesAllBegin) {
  EXPECT_EQ(heard_by({std::nullopt, std::nullopt}), std::vector<std::string>(2, "begun"));
}

TEST(RefuseTogether, AllRefuseInTheWordsOfTheFirst) {
  EXPECT_EQ(heard_by({std::nullopt, "no GPU; use device cpu", "no driver"}),
            std::vector<std::string>(3, "rank 1: no GPU; use device cpu"));
}

TEST(RefuseTogether, AReasonThatIsTooLongIsCut) {
  EXPECT_THAT(heard_by({std::string(5000, 'x')}).front(),
              testing::AllOf(testing::StartsWith("rank 0: xxx"), testing::SizeIs(testing::Lt(1000))));
}

Host host(const std::string& name, const std::string& boot) {
  Host host;
  name.copy(host.name.data(), host.name.size() - 1);
  boot.copy(host.boot.data(), host.boot.size() - 1);
  return host;
}

TEST(OneHost, ThisOneIsOne) {
  EXPECT_FALSE(on_several_hosts({this_host(), this_host()}));
  EXPECT_NE(this_host().boot.front(), '\0');
}

// Containers of one host have names of their own.
TEST(OneHost, IsKnownByItsBoot) {
  EXPECT_FALSE(on_several_hosts({host("a", "1"), host("b", "1")}));
  EXPECT_EQ(on_several_hosts({host("a", "1"), host("a", "1"), host("b", "2")}),
            "rank 0 is on host a, rank 2 on host b");
}

}  // namespace
}  // namespace ringcheck
