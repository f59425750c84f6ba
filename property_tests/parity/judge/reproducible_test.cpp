// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Judging is a function: the same outcome gives the same result, bit for bit, on any number of threads.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/to_result.h"
#include "parity/judge/runner.h"
#include "parity/subject/world.h"

namespace ringcheck::parity {
namespace {

// Small ones; some whose sums and products LibTorch cuts by the number of threads; with one run of
// heads and with several; packed, rotated, and with data of which the answer is known.
const std::vector<std::string> kCases{
    "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s37/d8/dv12/float64",
    "ring:alltoall/striped[2]/doc[9:12,18]/P2/hq2/hkv1/d8/fp16/rope:half[10000]",
    "ring:p2p/headtail/causal/P2/b1/hq4/hkv2/s700/d32/bf16",
    "ring:p2p/headtail/causal/P2/b2/hq2/hkv2/s700/d16/float32/rope:interleaved[10000]",
    "ring:allgather/contiguous/full/P2/b1/hq4/hkv4/s512/d32/float32/flash",
    "ring:p2p/contiguous/full/P2/b1/hq2/hkv1/s256/d64/bf16/scale:0.25/snap",
    "ring:p2p/contiguous/causal/P2/b1/hq2/hkv1/s300/d64/float32/routing"};

// As many as LibTorch takes by itself, and as a program under OMP_NUM_THREADS has them.
class Threads {
 public:
  explicit Threads(int count) : before_(at::get_num_threads()) { set(count); }
  ~Threads() {
    set(before_);
    ::unsetenv(kVariable);
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  static constexpr const char* kVariable = "OMP_NUM_THREADS";
  static void set(int count) {
    ::setenv(kVariable, std::to_string(count).c_str(), 1);
    at::set_num_threads(count);
  }
  int before_;
};

// Gives back what it was given, whatever the run.
class Replayed final : public World {
 public:
  explicit Replayed(Outcome outcome) : outcome_(std::move(outcome)) {}
  std::optional<Outcome> solve(const Run&, const Subject&) override { return outcome_; }

 private:
  Outcome outcome_;
};

std::string result_of(const Verdict& verdict) {
  return cli::without_times(reports::to_json(cli::to_result(verdict))).dump(1);
}

class Saved {
 public:
  explicit Saved(const std::string& text)
      : test_(parse_case(text)), outcome_(solve_on_threads({test_}, *ours())) {}

  // By all oracles that are content with this run.
  std::string judged(int threads) const {
    const Threads given(threads);
    Replayed world(outcome_);
    return result_of(*verify(test_, world, {}));
  }
  // The smallest change of one element of O.
  void move() {
    outcome_.tensors.o[0][0][0][7].mul_(1 + 2 * std::numeric_limits<double>::epsilon() +
                                        (test_.dtype == at::kDouble ? 0 : 0.01));
  }

 private:
  Case test_;
  Outcome outcome_;
};

TEST(Judging, OfOneOutcomeIsTheSameInEveryBit) {
  for (const std::string& text : kCases) {
    Saved saved(text);
    const std::string first = saved.judged(1);
    for (const int threads : {1, 2, 3, 4})
      EXPECT_EQ(first, saved.judged(threads)) << text << " on " << threads << " threads";
    saved.move();
    EXPECT_NE(first, saved.judged(1)) << text;  // the figures are those of the outcome
  }
}

std::string result_of(const Case& test, int threads) {
  const Threads given(threads);
  return result_of(verify(test, {}));
}

// Runs of a subject that promises the same bits.
TEST(Judging, OfARunIsTheSameInEveryBit) {
  for (const std::string& text : kCases) {
    const Case test = parse_case(text);
    ASSERT_TRUE(ours()->promise(test).deterministic) << text;
    const std::string first = result_of(test, 1);
    EXPECT_EQ(first, result_of(test, 3)) << text;
    if (test.data != "snap" && test.data != "routing") {
      Case other = test;
      ++other.seed;
      EXPECT_NE(first, result_of(other, 1)) << text;
    }
  }
}

// Bits that differ between runs are no sign of what a relation is about where no two runs agree.
TEST(Judging, SaysWhereBitsMayNotRepeatAtAll) {
  const auto findings_of_poison = [](const std::vector<std::string>& oracles) {
    std::atomic<int> calls = 0;
    RunOptions options;
    options.judging.oracles = oracles;
    options.subject = ours_with([&](Communicator& comm, const Case& test, const RankInput& input) {
      RankOutput output = context_parallel(comm, test, input);
      output.o.mul_(1 + 1e-5 * ++calls);
      return output;
    });
    const Verdict verdict = verify(parse_case("ring:p2p/contiguous/full/P2/b1/hq2/hkv2/s16/d8/float32"), options);
    for (const OracleVerdict& oracle : verdict.oracles)
      if (oracle.name == "poison") {
        EXPECT_EQ(oracle.status, Status::kFail);
        return oracle.findings.back();
      }
    return std::string("nobody asked");
  };
  EXPECT_EQ(findings_of_poison({"poison"}), "whether the same call repeats its bits at all, says --oracles repetition");
  EXPECT_EQ(findings_of_poison({"poison", "repetition"}), "the same call does not repeat its bits either: repetition");
}

}  // namespace
}  // namespace ringcheck::parity
