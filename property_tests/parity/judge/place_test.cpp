// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a result is off is said: rank, chunk, batch entry, head, position and channel.
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parity/judge/comparison.h"
#include "property_tests/parity/oracles/spoilt.h"

namespace ringcheck::parity {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const TensorVerdict& tensor(const Verdict& verdict, const std::string& name) {
  for (const TensorVerdict& one : oracle(verdict, "parity").tensors)
    if (one.tensor == name) return one;
  throw std::out_of_range(name);
}

// One element that is off, in every tensor: where it is said to be.
TEST(Place, IsThatOfTheWorstElement) {
  const Case test = parse_case("ring:p2p/headtail/causal/P3/b2/hq6/hkv2/s24/d8/float64");
  const std::vector<int64_t> held = flatten(layout_of(test).queries[1]);
  for (const char* name : {"o", "lse", "dq", "dk", "dv"})
    for (int64_t head = 0; head < (name[0] == 'd' && name[1] != 'q' ? test.kv_heads : test.q_heads); ++head) {
      const bool channels = std::string(name) != "lse";
      const Verdict verdict = verify_spoilt(test, [&](Communicator& comm, RankOutput& output) {
        if (comm.rank() != 1) return;
        const at::Tensor row = of(output, name)[1][head][head + 1];
        (channels ? row[5] : row).add_(0.5);
      });
      const std::string place = c10::str("batch 1, head ", head, ", position ", held[head + 1], channels ? ", channel 5:" : ":");
      EXPECT_EQ(tensor(verdict, name).status, Status::kFail) << name;
      EXPECT_THAT(tensor(verdict, name).worst, AllOf(HasSubstr("rank 1 (chunk "), HasSubstr(place))) << name;
    }
}

TEST(Place, IsBatchHeadPositionAndChannel) {
  const Case test = parse_case("ring:p2p/contiguous/full/P2/b2/hq3/hkv3/s8/d5/float64");
  const at::Tensor o = at::arange(2 * 3 * 8 * 5).view({2, 3, 8, 5}), lse = o.select(3, 0);
  EXPECT_EQ(place_of(test, o.sizes(), o[1][2][6][4].item<int64_t>()),
            "rank 1 (chunk 0), batch 1, head 2, position 6, channel 4");
  EXPECT_EQ(place_of(test, lse.sizes(), lse[0][1][3].item<int64_t>() / 5),
            "rank 0 (chunk 0), batch 0, head 1, position 3");
}

}  // namespace
}  // namespace ringcheck::parity
