// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Judging is a function: the same outcome gives the same figures, bit for bit, on as many threads.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "parity/judge/runner.h"
#include "parity/subject/world.h"

namespace ringcheck::parity {
namespace {

using Bits = std::vector<uint64_t>;

// Small ones, and some whose sums LibTorch cuts into pieces.
const std::vector<std::string> kCases{
    "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s37/d8/dv12/float64",
    "ring:alltoall/striped[2]/doc[9:12,18]/P2/hq2/hkv1/d8/fp16/rope:half[10000]",
    "ring:p2p/headtail/causal/P2/b1/hq8/hkv2/s700/d64/bf16",
    "ring:allgather/contiguous/full/P2/b1/hq4/hkv4/s512/d32/float32/flash"};

void enter(const std::string& text, Bits& bits) { bits.push_back(std::hash<std::string>()(text)); }
void enter(double figure, Bits& bits) { bits.push_back(std::bit_cast<uint64_t>(figure)); }

// Every figure of a verdict on a tensor, and what it says.
void enter(const TensorVerdict& tensor, Bits& bits) {
  for (const std::string& text : {tensor.tensor, tensor.worst})
    enter(text, bits);
  for (const double figure : {tensor.max_abs, tensor.relative, tensor.rms_z, tensor.max_z,
                              tensor.hard_ratio, tensor.bias, tensor.vacuity})
    enter(figure, bits);
  for (const int64_t count :
       {tensor.chunks, tensor.chunks_counted, int64_t{tensor.worst_rank},
        static_cast<int64_t>(tensor.status), static_cast<int64_t>(tensor.chart),
        static_cast<int64_t>(tensor.bias_status)})
    bits.push_back(static_cast<uint64_t>(count));
}

void enter(const OracleVerdict& oracle, Bits& bits) {
  bits.push_back(static_cast<uint64_t>(oracle.status));
  for (const std::string& finding : oracle.findings)
    enter(finding, bits);
  for (const TensorVerdict& tensor : oracle.tensors)
    enter(tensor, bits);
}

class Saved {
 public:
  explicit Saved(const std::string& text)
      : test_(parse_case(text)),
        problem_(problem_of(test_)),
        outcome_(solve_on_threads({test_}, *ours())) {}

  // By all oracles that are content with this run, on so many threads.
  Bits judged(int threads) const {
    const int before = at::get_num_threads();
    at::set_num_threads(threads);
    Bits bits;
    for (const std::string& name : oracles_of_one_run())
      enter(Oracles::at(name).judge({test_, *ours(), problem_, outcome_, {}, [] {}}), bits);
    at::set_num_threads(before);
    return bits;
  }
  // The smallest change of one element of O.
  void move() {
    outcome_.tensors.o[0][0][0][7].mul_(1 + 2 * std::numeric_limits<double>::epsilon() +
                                        (test_.dtype == at::kDouble ? 0 : 0.01));
  }

 private:
  Case test_;
  Problem problem_;
  Outcome outcome_;
};

TEST(Judging, OfOneOutcomeIsTheSameInEveryBit) {
  for (const std::string& text : kCases) {
    Saved saved(text);
    const Bits first = saved.judged(1);
    EXPECT_EQ(first, saved.judged(1)) << text;
    saved.move();
    EXPECT_NE(first, saved.judged(1)) << text;  // the figures are those of the outcome
  }
}

Bits figures_of(const Case& test) {
  const Verdict verdict = verify(test, {});
  Bits bits{static_cast<uint64_t>(verdict.status)};
  for (const OracleVerdict& oracle : verdict.oracles)
    enter(oracle, bits);
  for (const RankCounts& rank : verdict.ranks)
    for (const Counters& pass : {rank.forward, rank.backward})
      for (const int64_t count :
           {pass.bytes_sent, pass.bytes_received, pass.messages, pass.pairs, pass.flops, pass.steps,
            pass.merges, rank.kv_bytes, rank.traveller_bytes})
        bits.push_back(static_cast<uint64_t>(count));
  return bits;
}

// Two runs of a subject that promises the same bits.
TEST(Judging, OfTwoRunsIsTheSameInEveryBit) {
  for (const std::string& text : kCases) {
    const Case test = parse_case(text);
    ASSERT_TRUE(ours()->promise(test).deterministic) << text;
    Case other = test;
    ++other.seed;
    const Bits first = figures_of(test);
    EXPECT_EQ(first, figures_of(test)) << text;
    EXPECT_NE(first, figures_of(other)) << text;
  }
}

}  // namespace
}  // namespace ringcheck::parity
