// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Which GPUs a program is shown, and what of them it may use.
#include "cli/doctor/visible_gpus.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "property_tests/cli/program.h"

namespace ringcheck::cli {
namespace {

constexpr double kMebi = 1 << 20, kGibi = 1 << 30;

const std::vector<Row> kThree{
    {{"index", "0"}, {"uuid", "GPU-aa1"}, {"compute_mode", "Default"}, {"memory.total", "81559"}},
    {{"index", "1"}, {"uuid", "GPU-ab2"}, {"compute_mode", "Exclusive_Process"}, {"memory.total", "40000"}},
    {{"index", "2"}, {"uuid", "GPU-b3"}, {"compute_mode", "Default"}, {"memory.total", "[N/A]"}}};

double mebi_of(const std::string& named) {
  return visible_of(kThree, named, "").memory.value_or(0) / kMebi;
}

TEST(VisibleGpus, AreAllWhereNoneIsNamed) {
  const VisibleGpus all = visible_of(kThree, {}, "");
  EXPECT_EQ(all.count, 3);
  EXPECT_TRUE(all.by_one_only);
  EXPECT_EQ(all.memory, 40000 * kMebi) << "of the one that has least";
}

TEST(VisibleGpus, AreThoseThatAreNamed) {
  for (const auto& [named, count] : {std::pair("", 0), {"0", 1}, {"2,0", 2}, {" 2 , 0", 2}, {"GPU-ab", 1}, {"1,7,0", 1}, {"-1", 0},
                                     {"0,-1,1", 1}, {"uuid", 0}, {"GPU-c", 0}})
    EXPECT_EQ(visible_of(kThree, named, "").count, count) << named;
  EXPECT_FALSE(visible_of(kThree, "0,2", "").by_one_only);
  EXPECT_TRUE(visible_of(kThree, "GPU-ab2", "").by_one_only);
  EXPECT_EQ(mebi_of("0,2"), 81559);
  EXPECT_EQ(mebi_of("1"), 40000);
  EXPECT_EQ(mebi_of("GPU-b3"), 0) << "nobody can say";
}

TEST(VisibleGpus, HaveTheMemoryOfTheSmallestInstance) {
  std::vector<Row> rows = kThree;
  rows[0]["mig.mode.current"] = "Enabled";
  rows[1]["mig.mode.current"] = "Disabled";
  const std::string listed =
      "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aa1)\n"
      "  MIG 3g.40gb     Device  0: (UUID: MIG-1)\n"
      "  MIG 1g.10gb+me  Device  1: (UUID: MIG-2)\n"
      "GPU 1: NVIDIA H100 8gb (UUID: GPU-ab2)\n";
  EXPECT_EQ(visible_of(rows, {}, listed).memory, 10 * kGibi);
  EXPECT_EQ(visible_of(rows, "1", listed).memory, 40000 * kMebi);
  EXPECT_EQ(visible_of(rows, "MIG-2", listed).count, 1);
  EXPECT_EQ(visible_of(rows, "MIG-2", listed).memory, 10 * kGibi);
  EXPECT_EQ(visible_of(rows, "0", "").memory, std::nullopt) << "nobody can say";
}

// Of an nvidia-smi that is first in PATH, with a GPU it knows no MIG of.
TEST(VisibleGpus, AreAskedOfNvidiaSmi) {
  const testing::Folder folder;
  testing::write_text(folder.file("nvidia-smi"), R"(#!/bin/sh
case $1 in
  *mig*) echo 'Field "mig.mode.current" is not a valid field to query.' ;;
  *) echo '0, GPU-aa1, Default, 8192'; echo '1, GPU-ab2, Default, 4096' ;;
esac
)");
  std::filesystem::permissions(folder.file("nvidia-smi"), std::filesystem::perms::owner_all);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (folder.path() + ":" + path).c_str(), 1);
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(visible_gpus().count, 2);
  EXPECT_EQ(visible_gpus().memory, 4096 * kMebi);
  ::setenv("CUDA_VISIBLE_DEVICES", "0", 1);
  EXPECT_EQ(visible_gpus().count, 1);
  EXPECT_EQ(visible_gpus().memory, 8192 * kMebi);
  ::setenv("PATH", "/nonexistent", 1);
  EXPECT_EQ(visible_gpus().count, 0);
  ::setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace ringcheck::cli
