// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/job.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "property_tests/cp/worlds/communicator_checks.h"

namespace ringcheck {
namespace {

using namespace std::chrono_literals;

std::string refusal(const std::optional<Launcher>& launcher, const JobOptions& options) {
  try {
    Job::join(launcher, options);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "joined";
}

// A process without a launcher is the only rank of its job.
TEST(Job, AloneIsAWorldOfOne) {
  const auto job = Job::join(std::nullopt);
  EXPECT_EQ(job->rank(), 0);
  EXPECT_EQ(job->size(), 1);
  const auto world = job->world(at::kCPU, 20s);
  EXPECT_EQ(world->size(), 1);
  EXPECT_EQ(checks::exchange_delivers(*world, 0, 5, at::kFloat), "");
  EXPECT_EQ(checks::agreement_is_the_maximum(*world, 3), "");
  EXPECT_EQ(checks::split_orders_by_key(*world, {-7}, {2}), "");
  world->finish();
}

TEST(Job, WorldsAreApart) {
  const auto job = Job::join(std::nullopt);
  const auto one = job->world(at::kCPU, 20s), other = job->world(at::kCPU, 20s);
  std::ignore = one->transfer({{at::zeros({3}), 0}}, {}, {"left behind"});
  EXPECT_EQ(checks::exchange_delivers(*other, 0, 3, at::kFloat), "");
}

// mpirun of another MPI: every process is alone.
TEST(Job, OtherRanksThanWereAskedForAreRefused) {
  EXPECT_THAT(refusal(std::nullopt, {.ranks = 4}),
              testing::AllOf(testing::HasSubstr("asked for 4 ranks"), testing::HasSubstr("says 1"),
                             testing::HasSubstr("PATH")));
}

TEST(Job, MissingVariablesOfTorchrunAreNamed) {
  ::unsetenv("RANK");
  EXPECT_THAT(refusal(Launcher{"torchrun", 0, 2, 0, 2, "localhost:9"}, {}),
              testing::AllOf(testing::HasSubstr("RANK"), testing::HasSubstr("start with")));
}

// Nobody answers at the port: an error at the deadline, not a hang.
TEST(Job, AStoreThatDoesNotAnswerIsAnError) {
  for (const auto& [name, value] : {std::pair{"RANK", "1"},
                                    {"WORLD_SIZE", "2"},
                                    {"MASTER_ADDR", "localhost"},
                                    {"MASTER_PORT", "9"}})
    ::setenv(name, value, 1);
  const auto begin = std::chrono::steady_clock::now();
  const std::string why = refusal(Launcher{"torchrun", 1, 2, 1, 2, "localhost:9"}, {.time_to_meet = 1500ms});
  EXPECT_THAT(why, testing::AllOf(testing::HasSubstr("MASTER_ADDR=localhost"),
                                  testing::HasSubstr("MASTER_PORT=9"),
                                  testing::HasSubstr("1.5 s"), testing::HasSubstr("start rank 0")));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

}  // namespace
}  // namespace ringcheck
