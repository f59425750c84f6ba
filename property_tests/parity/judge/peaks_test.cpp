// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The limits of the peaks are close: on a CPU nothing is used beyond them, and they are at most a
// tenth more than what is used.
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parity/faults/cell.h"
#include "parity/faults/fault.h"
#include "parity/judge/expected/expected.h"
#include "parity/judge/runner.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

using parity::Case;
using parity::Status;

constexpr int64_t kSmall = 1 << 12;  // what a model may be off where little is used

struct Peak {
  std::string what;
  int64_t used = 0, model = 0;

  bool holds() const { return used <= model; }
  bool close() const { return model <= used + used / 10 + kSmall; }
};

// Of every rank: all of it, and every stage of both passes.
std::vector<Peak> peaks_of(const Case& test) {
  const auto ranks = parity::solve_on_threads({test}, *parity::ours()).ranks;
  const auto expected = parity::expected_counters(test);
  std::vector<Peak> peaks;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::string whose = c10::str(to_text(test), " rank ", rank, " ");
    peaks.push_back({whose + "in all", ranks[rank].peak_bytes, expected[rank].peak_bytes});
    for (size_t stage = 0; stage < kStages; ++stage) {
      peaks.push_back({c10::str(whose, "forward stage ", stage),
                       ranks[rank].forward_stock.peaks[stage],
                       expected[rank].forward_stock.peaks[stage]});
      peaks.push_back({c10::str(whose, "backward stage ", stage),
                       ranks[rank].backward_stock.peaks[stage],
                       expected[rank].backward_stock.peaks[stage]});
    }
  }
  return peaks;
}

std::string said(const Peak& peak) {
  return c10::str(peak.what, ": used ", peak.used, ", model ", peak.model);
}

RC_GTEST_PROP(Peaks, AreNeverAboveTheModelAndCloseToIt, ()) {
  Case test = *gen::test_case();
  test.device = "cpu";
  test.kernel = *gen::choice<std::string>({"plain", "flash"});
  if (parity::not_supported(test)) test.kernel = "plain";
  for (const Peak& peak : peaks_of(test)) {
    RC_LOG() << said(peak) << "\n";
    RC_ASSERT(peak.holds());
    RC_ASSERT(peak.close());
  }
}

// Cases of a size at which nothing small matters.
class Sizes : public ::testing::TestWithParam<const char*> {};

TEST_P(Sizes, AreModelled) {
  for (const Peak& peak : peaks_of(parity::parse_case(GetParam()))) {
    EXPECT_TRUE(peak.holds()) << said(peak);
    EXPECT_TRUE(peak.close()) << said(peak);
  }
}

// Planted bugs that every other oracle of one run passes: a limit of a stage sees each.
TEST(Peaks, WhatComesAndGoesIsSeen) {
  for (const char* name : {"block_copied_while_attended", "o_widened_before_it_is_rounded",
                           "partials_merged_twice"}) {
    const parity::Fault& fault = parity::Faults::at(name);
    for (const at::ScalarType dtype : fault.dtypes)
      for (const Case& test : parity::cases_of(fault, dtype))
        for (const char* oracle : {"counters", "parity"}) {
          parity::RunOptions options;
          options.subject = fault.subject;
          options.judging.oracles = {oracle};
          const parity::Verdict verdict = parity::verify(test, options);
          const bool seen = verdict.status == Status::kFail;
          EXPECT_EQ(seen, oracle == std::string("counters")) << name << " " << to_text(test);
          if (seen) {
            EXPECT_TRUE(parity::localises(fault.names, parity::said_by(verdict))) << name;
          }
        }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Peaks, Sizes,
    ::testing::Values(
        "ring:p2p/contiguous/causal/P1/b1/hq4/hkv4/s1024/d64/bf16",
        "ring:p2p/headtail/causal/P2/b1/hq4/hkv2/s2048/d64/bf16/rope:half[10000]",
        "ring:p2p/headtail/causal/P2/b1/hq4/hkv2/s2048/d64/bf16/flash/rope:half[10000]",
        "ring:alltoall/striped/causal/P3/b2/hq4/hkv1/s1500/d32/dv48/float32",
        "ring:alltoall/striped/causal/P3/b2/hq4/hkv1/s1500/d32/float32/flash",
        "ring:allgather/headtail/causal/P5/b1/hq8/hkv8/s2048/d32/fp16/rope:interleaved[10000]",
        "ring:allgather/headtail/causal/P5/b1/hq8/hkv8/s2048/d32/fp16/flash",
        "ring:allgather[keep]/contiguous/window[300]/P8/b1/hq4/hkv2/s4096/d64/float32",
        "ring:allgather[keep]/contiguous/window[300]/P8/b1/hq4/hkv2/s4096/d64/float32/flash",
        "ring:p2p/contiguous/full/P8/b1/hq4/hkv4/s2048/d64/float64/flash",
        "ring:p2p/contiguous/full/P3/b1/hq2/hkv1/s1024/d64/float64/rope:half[10000]",
        "ring:alltoall/headtail/doc[300:310,500,200:230]/P2/b2/hq4/hkv2/d64/bf16/rope:half[10000]",
        "ring:alltoall/headtail/doc[300:310,500,200:230]/P2/b2/hq4/hkv2/d64/bf16/flash",
        "gathered/contiguous/causal/P1/b1/hq4/hkv4/s1024/d64/bf16/rope:half[10000]",
        "gathered/headtail/causal/P2/b1/hq4/hkv2/s2048/d64/bf16/rope:half[10000]",
        "gathered/headtail/causal/P3/b2/hq12/hkv3/s1500/d32/dv48/float32",
        "gathered[1]/striped/causal/P4/b1/hq4/hkv4/s1503/d64/fp16/flash",
        "gathered/contiguous/full/P8/b2/hq8/hkv8/s2048/d64/float64/flash",
        "ulysses/contiguous/causal/P1/b1/hq4/hkv4/s1024/d64/bf16/rope:half[10000]",
        "ulysses/contiguous/causal/P1/b1/hq4/hkv4/s1024/d64/float64",
        "ulysses/headtail/causal/P2/b1/hq4/hkv2/s2048/d64/bf16/rope:half[10000]",
        "ulysses/headtail/causal/P3/b2/hq12/hkv3/s1500/d32/dv48/float32",
        "ulysses/striped/causal/P4/b1/hq4/hkv4/s1503/d64/fp16/flash",
        "ulysses/contiguous/full/P8/b1/hq8/hkv8/s2048/d64/float64/flash",
        "ulysses[2]/headtail/causal/P2/b1/hq8/hkv4/s2048/d64/bf16/rope:half[10000]",
        "ulysses[3]/striped/causal/P3/b2/hq18/hkv9/s1500/d32/dv48/float32",
        "ulysses[4]/contiguous/full/P2/b1/hq8/hkv8/s2048/d64/fp16/flash",
        "ring:p2p/striped/prefix[700]/P5/b1/hq8/hkv2/s1503/d64/fp16",
        "ring:p2p/contiguous/prefix[700]/P5/b1/hq8/hkv2/s1503/d64/float32/flash/scale:-0.3"));

}  // namespace
}  // namespace ringcheck
