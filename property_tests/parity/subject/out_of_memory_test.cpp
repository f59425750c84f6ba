// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <stdexcept>

#include "cp/error.h"
#include "parity/judge/oracle.h"
#include "parity/subject/out_of_memory.h"
#include "parity/judge/runner.h"

// A device without memory costs the case that asked for it, and says what it needed.
namespace ringcheck {
namespace {

using parity::Status;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

[[noreturn]] void no_memory() {
  TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate 9.00 GiB.");
}

parity::RunOptions ours() {
  parity::RunOptions options;
  options.judging.oracles = {"counters", "parity"};
  return options;
}

// A kernel that finds no memory on one rank, in the backward pass.
parity::RunOptions starved(int culprit) {
  class Starved final : public AttentionKernel {
   public:
    explicit Starved(std::shared_ptr<const AttentionKernel> inner) : inner_(std::move(inner)) {}
    std::optional<std::string> refuses(const BlockShape& shape) const override {
      return inner_->refuses(shape);
    }
    Partial forward(const QBlock& q, const KvBlock& kv, const Scores& scores,
                  const Visibility& visibility) const override {
      return inner_->forward(q, kv, scores, visibility);
    }
    Gradients backward(const QBlock&, const KvBlock&, const Saved&, const Scores&, const Visibility&) const override {
      no_memory();
    }
    CallBytes call_bytes(const BlockShape& shape) const override {
      return inner_->call_bytes(shape);
    }

   private:
    std::shared_ptr<const AttentionKernel> inner_;
  };
  parity::RunOptions options = ours();
  options.subject = parity::ours_with([culprit](Communicator& comm, const parity::Case& test,
                              const parity::RankInput& input) {
    ContextParallel::Options parts = parity::options_of(test);
    if (comm.rank() == culprit) parts.plan.kernel = std::make_shared<Starved>(parts.plan.kernel);
    return parity::context_parallel_with(parts, comm, test, input);
  });
  return options;
}

TEST(OutOfMemory, CostsItsCaseOnlyAndSaysWhatWasNeeded) {
  const parity::Case test = parity::parse_case("ring:p2p/P3/hq2/hkv2/s60/d16/float32");
  const parity::Verdict verdict = parity::verify(test, starved(1));
  EXPECT_EQ(verdict.status, Status::kCrash);
  EXPECT_THAT(verdict.reason,
              AllOf(HasSubstr("rank 1 in attend backward: out of memory"),
                    MatchesRegex(".* needs at most [0-9.e-]+ GiB by the memory model, cpu has "
                                 "[0-9.]+ GiB of [0-9.]+ GiB free without it; .*"),
                    HasSubstr("Tried to allocate 9.00 GiB")));
  EXPECT_EQ(parity::verify(test, ours()).status, Status::kPass);
}

const parity::Oracles::Add greedy{
    "greedy", {"nothing: it finds no memory", [](const parity::Evidence&) -> parity::OracleVerdict {
                 no_memory();
               }}};

// The subject is not to blame for what its judge needs.
TEST(OutOfMemory, OfTheJudgeIsInconclusive) {
  parity::RunOptions options;
  options.judging.oracles = {"greedy"};
  const parity::Verdict verdict =
      parity::verify(parity::parse_case("P2/hq2/hkv2/s60/d16/float32"), options);
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  EXPECT_THAT(verdict.reason, HasSubstr("the reference ran out of memory"));
  EXPECT_EQ(verdict.ranks.size(), 2U);
}

// Libraries have other words for it: by what is left at that time. What ends a world, and wrong arguments, are known.
TEST(OutOfMemory, IsWhatFailsWhereNextToNothingIsFree) {
  constexpr double kMebi = 1 << 20;
  const std::runtime_error of_a_library("cuDNN: execution: INTERNAL_ERROR");
  EXPECT_TRUE(parity::is_for_want_of_memory(of_a_library, 4 * kMebi));
  EXPECT_FALSE(parity::is_for_want_of_memory(of_a_library, 512 * kMebi));
  EXPECT_TRUE(parity::is_for_want_of_memory(std::runtime_error("CUBLAS_STATUS_EXECUTION_FAILED when calling cublasDgemm"), 0));
  EXPECT_FALSE(parity::is_for_want_of_memory(std::runtime_error("attention wrote into q"), 0)) << "it is no library's";
  EXPECT_FALSE(parity::is_for_want_of_memory(of_a_library, parity::free_of_driver(at::kCPU)));
  for (const auto& known : std::initializer_list<std::shared_ptr<std::exception>>{
           std::make_shared<Timeout>("CUDA: late"), std::make_shared<Abandoned>("CUDA: left"),
           std::make_shared<RankFailure>(1, Operation{"solve"}, false, "CUDA failed"),
           std::make_shared<std::invalid_argument>("CUDA: wrong")})
    EXPECT_FALSE(parity::is_for_want_of_memory(*known, 0)) << known->what();
  try {
    no_memory();
  } catch (const std::exception& error) {
    EXPECT_TRUE(parity::is_for_want_of_memory(error, 1024 * kMebi));
  }
}

}  // namespace
}  // namespace ringcheck
