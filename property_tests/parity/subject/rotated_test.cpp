// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Oracles of rotated q and k: for each of them a subject that gives itself away, and ours.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "parity/faults/decorators/subject.h"
#include "parity/judge/runner.h"
#include "property_tests/parity/subject/circumstances.h"

namespace ringcheck {
namespace {

using namespace circumstances;

TEST(Rotated, OursPasses) {
  for (const char* text : kCases)
    for (const char* oracle :
         {"rope-shards", "rope-norms", "position-shift", "splitting", "larger-batch"})
      EXPECT_EQ(status(oracle, with_rope(text), kNothing), of_ours(oracle, text))
          << oracle << " " << text;
}

// Positions that count from the beginning of the shard.
TEST(RopeShards, RejectsLocalPositions) {
  for (const char* text : {kCases[1], kCases[2], kCases[3], kCases[4]}) {
    const Spoil local = [](Communicator& comm, const Case&, const RankInput&, RankOutput& o) {
      if (comm.size() > 1) o.q_rotated = o.q_rotated.roll(1, 2);
    };
    EXPECT_EQ(status("rope-shards", with_rope(text), local), Status::kFail) << text;
  }
}

// A query turned by something else than its position: scores are no function of distances.
TEST(PositionShift, RejectsPositionsThatCountDifferently) {
  const parity::SharedSubject squeezed = parity::ours_with([](Communicator& comm, const Case& test,
                                       const RankInput& input) {
    auto parts = parity::options_of(test);
    parts.rotate = [](const at::Tensor& x, const Rope& rope, const Mask& mask,
                      const Positions& own) {
      std::vector<Span> other;
      for (const int64_t p : flatten(own)) other.push_back({p / 2 * 3, 1});
      return rotate(x, rope, mask, other);
    };
    return parity::context_parallel_with(parts, comm, test, input);
  });
  for (const char* text : {kCases[0], kCases[1], kCases[2], kCases[3]})
    EXPECT_EQ(judged("position-shift", with_rope(text), squeezed).status, Status::kFail) << text;
}

TEST(RopeNorms, RejectsOtherPairsAndOtherStarts) {
  const Spoil larger = [](auto&, auto&, auto&, RankOutput& o) {
    o.k_rotated.select(3, 0).mul_(1.1);
  };
  const Spoil turned = [](auto&, auto&, const RankInput& input, RankOutput& o) {
    const at::Tensor& x = input.local.q;  // by a quarter turn everywhere
    const at::Tensor even = x.slice(3, 0, std::nullopt, 2), odd = x.slice(3, 1, std::nullopt, 2);
    o.q_rotated = at::stack({odd.neg(), even}, 4).flatten(3).nan_to_num(0);
  };
  for (const char* text : kCases) {
    EXPECT_EQ(status("rope-norms", with_rope(text), larger), Status::kFail) << text;
    EXPECT_EQ(status("rope-norms", with_rope(text), turned), Status::kFail) << text;
  }
}

// Some roundings of float32 more than it takes to turn a pair.
TEST(RopeShards, RejectsWhatIsOffByDozensOfRoundings) {
  for (const double roundings : {60, -60}) {
    const Spoil off = [&](auto&, auto&, const RankInput&, RankOutput& o) { o.q_rotated.mul_(1 + roundings * 0x1p-24); };
    EXPECT_EQ(status("rope-shards", with_rope("causal/float32/P3"), off), Status::kFail);
  }
}

// R5: gradients that are turned on instead of back.
TEST(Rotated, ConservationRejectsAGradientThatIsTurnedTheWrongWay) {
  const parity::SharedSubject wrong = parity::ours_with([](Communicator& comm, const Case& test, const RankInput& input) {
    auto parts = parity::options_of(test);
    parts.rotate_back = rotate;
    return parity::context_parallel_with(parts, comm, test, input);
  });
  for (const char* text : kCases)
    EXPECT_EQ(judged("conservation", with_rope(text), wrong).status, Status::kFail) << text;
}

// Without RoPE nobody judges what is shown as q and k, so nobody believes it.
TEST(Rotated, WhatIsShownWithoutRopeIsNotBelieved) {
  const auto doubles = parity::ours_with([](Communicator& comm, const Case& test, const RankInput& input) {
    RankInput other{input.local.to(comm.device(), true), input.positions};
    other.local.q.mul_(2);
    RankOutput output = parity::context_parallel(comm, test, other);
    output.q_rotated = other.local.q;
    output.k_rotated = other.local.k;
    return output;
  });
  for (const char* text : kCases) EXPECT_EQ(judged("parity", text, doubles).status, Status::kFail) << text;
}

}  // namespace
}  // namespace ringcheck
