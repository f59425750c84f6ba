// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Which cases have the machine for themselves, which are shared by a few workers and which by all, and how many those are.
#include "cli/workers/sharing/dealing.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <thread>

#include "property_tests/cli/program.h"

namespace ringcheck::cli {
namespace {

enum class Share { kSmall, kMedium, kLarge };

Share share_of(const std::string& text) {
  const Dealt dealt = deal({parity::parse_case(text)}, {0});
  EXPECT_EQ(dealt.large.size() + dealt.medium.size() + dealt.small.size(), 1U);
  return !dealt.small.empty() ? Share::kSmall : !dealt.medium.empty() ? Share::kMedium : Share::kLarge;
}

// 256 MiB of scores are small, of which every batch entry and query head has its own, and a window few.
TEST(Dealing, GoesByAllScores) {
  EXPECT_EQ(share_of("P2/b2/hq1/hkv1/s4096"), Share::kSmall);
  EXPECT_EQ(share_of("P2/b3/hq1/hkv1/s4096"), Share::kLarge);
  EXPECT_EQ(share_of("P2/b1/hq2/hkv1/s4096"), Share::kSmall);
  EXPECT_EQ(share_of("P2/b1/hq3/hkv1/s4096"), Share::kLarge);
  EXPECT_EQ(share_of("window[64]/P2/b3/hq1/hkv1/s4096"), Share::kSmall);
  EXPECT_EQ(share_of("window[64]/P2/b3/hq1/hkv1/s4096/census"), Share::kLarge);
}

// 4 GiB of scores, and 256 MiB of each of q and o, are medium on a GPU; on the CPU nothing is.
TEST(Dealing, SharesMediumCasesOnGpusOnly) {
  EXPECT_EQ(share_of("cuda/P2/b3/hq1/hkv1/s4096"), Share::kMedium);
  EXPECT_EQ(share_of("cuda/P2/b32/hq1/hkv1/s4096/d16/dv16"), Share::kMedium);
  EXPECT_EQ(share_of("cuda/P2/b33/hq1/hkv1/s4096/d16/dv16"), Share::kLarge);
  EXPECT_EQ(share_of("cuda/P2/b32/hq1/hkv1/s4096/d256/dv16"), Share::kMedium);
  EXPECT_EQ(share_of("cuda/P2/b32/hq1/hkv1/s4096/d264/dv16"), Share::kLarge);
  EXPECT_EQ(share_of("cuda/P2/b32/hq1/hkv1/s4096/d16/dv264"), Share::kLarge);
}

// By their index in all cases, of which some are dealt: those that take longest first, large ones as they come.
TEST(Dealing, BeginsWithWhatTakesLongest) {
  const char* const texts[] = {"P1/s64",  "P2/s2048", "P2/b3/hq1/hkv1/s4096", "P1/s1024",
                               "P1/s512", "P2/b9/hq1/hkv1/s4096"};
  std::vector<parity::Case> cases;
  for (const char* text : texts) cases.push_back(parity::parse_case(text));
  const Dealt dealt = deal(cases, {0, 1, 2, 3, 5});
  EXPECT_EQ(dealt.small, (std::vector<size_t>{1, 3, 0}));
  EXPECT_EQ(dealt.large, (std::vector<size_t>{2, 5}));
  EXPECT_EQ(dealt.medium, std::vector<size_t>());
}

TEST(WorkersOfMedium, AreAThirdFromOneToFour) {
  for (const auto& [jobs, workers] : {std::pair{1, 1U}, {2, 1U}, {5, 1U}, {6, 2U}, {12, 4U}, {64, 4U}})
    EXPECT_EQ(workers_of_medium(jobs), workers) << jobs;
}

// On GPUs of which an nvidia-smi that is first in PATH says this, a line each.
int jobs_on(const std::string& gpus, const std::string& text = "cuda/P2/s64") {
  const testing::Folder folder;
  testing::write_text(folder.file("nvidia-smi"), "#!/bin/sh\nprintf '" + gpus + "'\n");
  std::filesystem::permissions(folder.file("nvidia-smi"), std::filesystem::perms::owner_all);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (folder.path() + ":" + path).c_str(), 1);
  const int jobs = default_jobs({parity::parse_case(text)});
  ::setenv("PATH", path.c_str(), 1);
  return jobs;
}

TEST(Jobs, AreAsManyAsCoresAndMemoryAllow) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency()) + 1;
  EXPECT_EQ(jobs_on("0, Default, 81559\\n"), std::min(cores, 12));
  EXPECT_EQ(jobs_on("0, Default, 8192\\n"), std::min(cores, 2));
  EXPECT_EQ(jobs_on("0, Default, 81559\\n1, Default, 4100\\n"), 1) << "the GPU that has least";
  EXPECT_EQ(jobs_on("0, Default, 1024\\n"), 1) << "somebody must do it";
  EXPECT_EQ(jobs_on("0, Default, [N/A]\\n"), std::min(cores, 12)) << "nobody can say";
  EXPECT_EQ(jobs_on("0, Default, 81559\\n1, Exclusive_Process, 81559\\n"), 1);
  EXPECT_EQ(jobs_on("0, Exclusive_Process, 1024\\n", "P2/s64"), std::min(cores, 8)) << "nothing of a GPU is needed";
}

}  // namespace
}  // namespace ringcheck::cli
