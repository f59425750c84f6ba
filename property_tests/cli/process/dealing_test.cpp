// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Which cases have the machine for themselves, which are shared by a few workers and which by all, and how many those are.
#include "cli/workers/sharing/dealing.h"

#include <gtest/gtest.h>

#include <array>

#include "parity/case/case_space.h"

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
                               "P1/s512", "P2/b9/hq1/hkv1/s4096", "cuda/P2/b3/hq1/hkv1/s4096",
                               "cuda/P2/b9/hq1/hkv1/s4096"};
  std::vector<parity::Case> cases;
  for (const char* text : texts) cases.push_back(parity::parse_case(text));
  const Dealt dealt = deal(cases, {0, 1, 2, 3, 5, 6, 7});
  EXPECT_EQ(dealt.small, (std::vector<size_t>{1, 3, 0}));
  EXPECT_EQ(dealt.large, (std::vector<size_t>{2, 5}));
  EXPECT_EQ(dealt.medium, (std::vector<size_t>{7, 6}));
}

// cuDNN plans every shape that a strip has, others none: under an edge that every block of queries meets elsewhere those are many.
TEST(Dealing, KnowsWhatIsPlanned) {
  const std::string rest = "cuda/P2/hq1/hkv1/s600/d64/bf16";
  const auto seconds = [&](const std::string& how) { return seconds_of(parity::parse_case(how + rest)); };
  EXPECT_EQ(parity::shapes_to_plan(parity::parse_case("striped[3]/causal/tiled/" + rest)), 0);
  EXPECT_EQ(parity::shapes_to_plan(parity::parse_case("contiguous/full/cudnn/" + rest)), 1);
  EXPECT_EQ(parity::shapes_to_plan(parity::parse_case("contiguous/causal/cudnn/" + rest)), 2) << "the diagonal block and the other";
  EXPECT_GE(parity::shapes_to_plan(parity::parse_case("striped[3]/causal/cudnn/" + rest)), 100);
  EXPECT_GT(seconds("striped[3]/causal/cudnn/"), 5);
  EXPECT_LT(seconds("striped[3]/causal/tiled/"), 1);
  EXPECT_LT(seconds("contiguous/causal/cudnn/"), 2);
}

TEST(WorkersOfMedium, AreAThirdFromOneToFour) {
  for (const auto& [jobs, workers] : {std::pair{1, 1U}, {2, 1U}, {5, 1U}, {6, 2U}, {12, 4U}, {64, 4U}})
    EXPECT_EQ(workers_of_medium(jobs), workers) << jobs;
}

constexpr size_t kMany = 64;  // cores
constexpr double kMebi = 1 << 20;

int jobs_on(const VisibleGpus& gpus, size_t cores = kMany) {
  return default_jobs({parity::parse_case("cuda/P2/s64")}, gpus, cores);
}

TEST(Jobs, AreOneMoreThanCoresUpToEightOrTwelve) {
  const std::vector<parity::Case> on_cpu{parity::parse_case("P2/s64")};
  for (const auto& [cores, on_cpus, on_gpus] : {std::array{1, 2, 2}, {2, 3, 3}, {7, 8, 8}, {8, 8, 9}, {11, 8, 12}, {64, 8, 12}}) {
    EXPECT_EQ(default_jobs(on_cpu, {1, true, 1}, cores), on_cpus) << "nothing of a GPU is needed";
    EXPECT_EQ(jobs_on({1, false, {}}, cores), on_gpus);
  }
}

TEST(Jobs, AreOneForEachFourGibibytesOfAGpu) {
  for (const auto& [mebi, jobs] : {std::pair{81559., 12}, {49152., 12}, {49151., 11}, {12288., 3}, {12287., 2}, {1024., 1}})
    EXPECT_EQ(jobs_on({2, false, mebi * kMebi}), jobs) << mebi;
  EXPECT_EQ(jobs_on({2, false, 12288 * kMebi}, 1), 2) << "and one more than cores";
  EXPECT_EQ(jobs_on({2, true, 81559 * kMebi}), 1) << "which takes one process only";
}

// Of a subject that is not ours, which a dozen of its cases pay for.
TEST(Jobs, OfOthersAreOneForADozen) {
  const parity::Case ours = parity::parse_case("cuda/P2/s64");
  parity::Case other = ours;
  other.subject = "another";
  for (const auto& [cases, jobs] : {std::pair{1, 1}, {12, 1}, {13, 2}, {24, 2}, {25, 3}, {500, 12}})
    EXPECT_EQ(default_jobs(std::vector(cases, other), {1, false, {}}, kMany), jobs) << cases;
  EXPECT_EQ(default_jobs({other, ours}, {1, false, {}}, kMany), 12);
}

// Half a minute, or twenty times what is predicted of the scores; two minutes at least where the first call may compile.
TEST(Deadline, GrowsWithTheScores) {
  const parity::Case small = parity::parse_case("P2/s64"), large = parity::parse_case("P2/b1/hq32/hkv8/s32K/d128");
  EXPECT_EQ(deadline_of(small), 30);
  parity::Case other = small;
  other.subject = "another";
  EXPECT_EQ(deadline_of(other), 120);
  EXPECT_NEAR(deadline_of(large), 20 * 32 * 0x1p30 * 14 * 128 / 3e8, 1);
  other = large;
  other.subject = "another";
  EXPECT_EQ(deadline_of(other), deadline_of(large));
}

}  // namespace
}  // namespace ringcheck::cli
