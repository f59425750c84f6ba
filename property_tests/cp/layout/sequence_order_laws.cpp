// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/sequence_order.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cp/layout/shard.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

// Shards put together in the order of the sequence, and taken from it again.
namespace ringcheck {
namespace {

// [batch, heads, length], or with channels behind it: some that 16 bytes divide, some that they do not.
struct Drawn {
  gen::Cut cut;
  at::Tensor sequence;

  std::vector<Positions> shards() const { return cut.layout().queries; }
  SequenceOrder order() const { return {shards(), cut.length()}; }
};

Drawn drawn() {
  Drawn drawn{*gen::cut().as("cut"), {}};
  const int64_t channels = *gen::choice<int64_t>({0, 1, 3, 8, 24}).as("channels");
  const auto dtype = *gen::dtype().as("dtype");
  std::vector<int64_t> sizes{2, 3, drawn.cut.length()};
  if (channels > 0) sizes.push_back(channels);
  drawn.sequence = normal(sizes, *gen::seed().as("seed"), dtype);
  return drawn;
}

at::Tensor unwritten(const at::Tensor& like, int64_t positions) {
  auto sizes = like.sizes().vec();
  sizes[2] = positions;
  return at::full(sizes, NAN, like.options());
}

// put is unshard, bit for bit, and writes every position.
RC_GTEST_PROP(SequenceOrder, PutIsUnshard, ()) {
  const Drawn d = drawn();
  const SequenceOrder order = d.order();
  const at::Tensor whole = unwritten(d.sequence, d.cut.length());
  for (int rank = 0; rank < d.cut.world; ++rank)
    order.put(shard(d.sequence, 2, d.shards()[rank]), rank, whole);
  RC_ASSERT(difference(whole, d.sequence) == "");
}

// take is shard, bit for bit, with the pads as they were asked for.
RC_GTEST_PROP(SequenceOrder, TakeIsShard, ()) {
  const Drawn d = drawn();
  const SequenceOrder order = d.order();
  for (int rank = 0; rank < d.cut.world; ++rank) {
    const Positions positions = d.shards()[rank];
    at::Tensor expected = shard(d.sequence, 2, positions);
    const at::Tensor taken = unwritten(d.sequence, positions.count());
    order.take(d.sequence, rank, taken, 0);
    RC_ASSERT(difference(taken, expected) == "");
    order.take(d.sequence, rank, taken, -INFINITY);
    int64_t slot = 0;
    for (const int64_t position : flatten(positions)) {
      if (position >= d.cut.length()) expected.select(2, slot).fill_(-INFINITY);
      ++slot;
    }
    RC_ASSERT(difference(taken, expected) == "");
  }
}

// The numbers of tokens in a row that a shard consists of.
std::vector<int64_t> stretches_of(const std::vector<int64_t>& positions) {
  std::vector<int64_t> stretches;
  for (size_t slot = 0; slot < positions.size(); ++slot) {
    if (slot == 0 || positions[slot] != positions[slot - 1] + 1) stretches.push_back(0);
    ++stretches.back();
  }
  return stretches;
}

// Straight are shards of one stretch, or of two of one size, without pads; then their parts and places are the same tokens,
// in the same order, in pieces that each are contiguous.
RC_GTEST_PROP(SequenceOrder, PartsOfStraightShardsStandInTheirPlaces, ()) {
  const Drawn d = drawn();
  RC_PRE(d.cut.world > 1);
  const SequenceOrder order = d.order();
  bool straight = true;
  for (const Positions& shard : d.shards()) {
    const std::vector<int64_t> slots = flatten(shard), lengths = stretches_of(slots);
    straight = straight && !slots.empty() && std::ranges::max(slots) < d.cut.length() && lengths.size() <= 2 && lengths.front() == lengths.back();
  }
  RC_ASSERT(order.straight() == straight);
  RC_CLASSIFY(straight);
  for (int rank = 0; straight && rank < d.cut.world; ++rank) {
    const at::Tensor own = shard(d.sequence, 2, d.shards()[rank]).contiguous();
    const at::Tensor part = order.part(own, rank), place = order.place(d.sequence, rank);
    RC_ASSERT(part.is_alias_of(own));
    RC_ASSERT(part.numel() == own.numel());
    RC_ASSERT(difference(part.contiguous(), place.contiguous()) == "");
    RC_ASSERT(place[0][0][0].is_contiguous());
  }
}

// Neither cares in what memory it finds the tensors: heads of a wider tensor, channels before
// positions.
RC_GTEST_PROP(SequenceOrder, StridesDoNotMatter, ()) {
  const Drawn d = drawn();
  const SequenceOrder order = d.order();
  const int rank = static_cast<int>(*gen::between(0, d.cut.world - 1).as("rank"));
  const at::Tensor own = shard(d.sequence, 2, d.shards()[rank]);
  const auto strided = [](const at::Tensor& x) {
    return at::cat({x, x}, 1).narrow(1, x.size(1), x.size(1));
  };
  const auto turned = [](const at::Tensor& x) {
    return x.transpose(1, 2).contiguous().transpose(1, 2);
  };
  const at::Tensor taken = turned(at::zeros_like(own));
  order.take(strided(d.sequence), rank, taken, 0);
  RC_ASSERT(difference(taken.contiguous(), own) == "");
  const at::Tensor plain = at::zeros_like(d.sequence), other = turned(at::zeros_like(d.sequence));
  order.put(own, rank, plain);
  order.put(strided(own), rank, other);
  RC_ASSERT(difference(other.contiguous(), plain) == "");
}

// The shards of a balancer hold each position once; without one of them, or with one twice, not.
RC_GTEST_PROP(SequenceOrder, WholeMeansEachPositionOnce, ()) {
  const Drawn d = drawn();
  std::vector<Positions> shards = d.shards();
  RC_ASSERT(SequenceOrder::whole(shards, d.cut.length()));
  RC_ASSERT(!SequenceOrder::whole(shards, d.cut.length() + d.cut.padded()));
  shards.push_back({{d.cut.length() - 1, 1}});
  RC_ASSERT(!SequenceOrder::whole(shards, d.cut.length()));
}

TEST(SequenceOrder, APositionInThePlaceOfAnotherIsNotWhole) {
  EXPECT_TRUE(SequenceOrder::whole({{{0, 2}}, {{2, 2}}}, 4));
  EXPECT_FALSE(SequenceOrder::whole({{{0, 2}}, {{2, 1}, {1, 1}}}, 4));
  EXPECT_FALSE(SequenceOrder::whole({{{0, 2}}, {{2, 1}, {2, 1}}}, 4));
  EXPECT_FALSE(SequenceOrder::whole({{{0, 2}}, {{-1, 1}, {3, 1}}}, 4));
}

// Three stretches of one size at equal distances are one run, and yet not straight.
TEST(SequenceOrder, StripesAreNotStraight) {
  for (const int64_t size : {1, 2, 5}) {
    std::vector<Span> shards[2];
    for (int64_t stripe = 0; stripe < 6; ++stripe) shards[stripe % 2].push_back({stripe * size, size});
    EXPECT_FALSE(SequenceOrder({shards[0], shards[1]}, 6 * size).straight()) << size;
  }
}

// Runs that lie between each other, read as they lie: even positions, then odd ones.
TEST(SequenceOrder, RunsMayGoBack) {
  const std::vector<Positions> woven{{{0, 3, 2}, {1, 3, 2}}};
  const SequenceOrder order(woven, 5);
  const at::Tensor shard = at::arange(6, at::kFloat).view({1, 1, 6});
  const at::Tensor whole = at::empty({1, 1, 5}, at::kFloat);
  order.put(shard, 0, whole);
  EXPECT_TRUE(at::equal(whole.view(-1), at::tensor({0, 3, 1, 4, 2}, at::kFloat)));
  const at::Tensor back = at::empty({1, 1, 6}, at::kFloat);
  order.take(whole, 0, back, -1);
  EXPECT_TRUE(at::equal(back.view(-1), at::tensor({0, 1, 2, 3, 4, -1}, at::kFloat)));
}

// Spans of one size at unequal distances are no stripes.
TEST(SequenceOrder, DistancesMayDiffer) {
  const std::vector<Positions> shards{{{0, 2}, {4, 2}, {10, 2}}, {{2, 2}, {6, 2}, {8, 2}}};
  const SequenceOrder order(shards, 12);
  const at::Tensor sequence = at::arange(12).view({1, 1, 12}), whole = at::full_like(sequence, -1);
  for (int rank = 0; rank < 2; ++rank) order.put(shard(sequence, 2, shards[rank]), rank, whole);
  EXPECT_TRUE(whole.equal(sequence));
  const at::Tensor taken = at::empty({1, 1, 6}, at::kLong);
  order.take(sequence, 0, taken, -1);
  EXPECT_TRUE(taken.view(-1).equal(at::tensor({0, 1, 4, 5, 10, 11}, at::kLong)));
}

}  // namespace
}  // namespace ringcheck
