// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/shard.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

// A tensor of any dtype whose dimension `dim` is the sequence; the other sizes differ from it.
struct Whole {
  gen::Cut cut;
  int64_t dim = 0;
  at::Tensor tensor;

  std::vector<at::Tensor> shards() const {
    std::vector<at::Tensor> all;
    for (const Positions& positions : cut.layout().queries)
      all.push_back(shard(tensor, dim, positions));
    return all;
  }
};

Whole draw() {
  Whole whole{*gen::cut().as("cut"), 0, {}};
  const auto dtype =
      *gen::choice<at::ScalarType>({at::kLong, at::kFloat, at::kDouble, at::kBFloat16, at::kHalf,
                                    at::kInt, at::kBool, at::kByte})
           .as("dtype");
  std::vector<int64_t> sizes;
  for (int64_t n = *gen::between(0, 3).as("other dimensions"); n > 0; --n)
    sizes.push_back(n + 1);
  whole.dim = *gen::between(0, static_cast<int64_t>(sizes.size())).as("dim");
  sizes.insert(sizes.begin() + whole.dim, whole.cut.length());
  whole.tensor = normal(sizes, *gen::seed().as("seed"), dtype);
  return whole;
}

// unshard(shard(x)) = x, bit for bit: any dtype, dimension, length, world and balancer.
RC_GTEST_PROP(Shard, UnshardIsTheInverse, ()) {
  const Whole whole = draw();
  const at::Tensor back =
      unshard(whole.shards(), whole.dim, whole.cut.layout().queries, whole.cut.length());
  RC_ASSERT(difference(back, whole.tensor) == "");
}

// shard(unshard(parts)) = parts where no slot is a pad.
RC_GTEST_PROP(Shard, ShardIsTheInverse, ()) {
  const Whole whole = draw();
  const std::vector<Positions> layout = whole.cut.layout().queries;
  auto sizes = whole.tensor.sizes().vec();
  sizes[whole.dim] = count(layout[0]);
  std::vector<at::Tensor> parts;
  for (int rank = 0; rank < whole.cut.world; ++rank)
    parts.push_back(normal(sizes, rank + 1, whole.tensor.scalar_type()));
  const at::Tensor together = unshard(parts, whole.dim, layout, whole.cut.padded());
  for (int rank = 0; rank < whole.cut.world; ++rank)
    RC_ASSERT(difference(shard(together, whole.dim, layout[rank]), parts[rank]) == "");
}

// The rider: a tensor that holds its own positions says where every slot of a shard comes from.
RC_GTEST_PROP(Shard, EverySlotHoldsItsOwnPosition, ()) {
  const gen::Cut cut = *gen::cut().as("cut");
  const at::Tensor rider = at::arange(1, cut.length() + 1, at::kLong);  // 0 is a pad
  for (const Positions& positions : cut.layout().queries) {
    const at::Tensor part = shard(rider, 0, positions);
    const std::vector<int64_t> slots = flatten(positions);
    RC_ASSERT(part.size(0) == static_cast<int64_t>(slots.size()));
    for (size_t i = 0; i < slots.size(); ++i) {
      const int64_t expected = slots[i] < cut.length() ? slots[i] + 1 : 0;
      RC_ASSERT(part[static_cast<int64_t>(i)].item<int64_t>() == expected);
    }
  }
}

// What pad slots hold never reaches the whole.
RC_GTEST_PROP(Shard, UnshardDropsPads, ()) {
  const Whole whole = draw();
  RC_PRE(whole.tensor.is_floating_point());
  const std::vector<Positions> layout = whole.cut.layout().queries;
  std::vector<at::Tensor> shards = whole.shards();
  for (size_t rank = 0; rank < layout.size(); ++rank) {
    int64_t slot = 0;
    for (const int64_t position : flatten(layout[rank])) {
      if (position >= whole.cut.length())
        shards[rank].select(whole.dim, slot).fill_(std::numeric_limits<double>::quiet_NaN());
      ++slot;
    }
  }
  RC_ASSERT(difference(unshard(shards, whole.dim, layout, whole.cut.length()), whole.tensor) == "");
}

// A strided view is sharded like its contiguous copy.
RC_GTEST_PROP(Shard, StridesDoNotMatter, ()) {
  const Whole whole = draw();
  const at::Tensor strided = whole.tensor.transpose(0, -1);
  const int64_t dim = whole.dim == 0                   ? strided.dim() - 1
                      : whole.dim == strided.dim() - 1 ? 0
                                                       : whole.dim;
  const Positions positions = whole.cut.layout().queries.back();
  RC_ASSERT(difference(shard(strided, dim, positions),
                       shard(strided.contiguous(), dim, positions)) == "");
}

// shard never hands out memory of the whole: writing to a shard leaves it as it was.
RC_GTEST_PROP(Shard, AShardIsACopy, ()) {
  const Whole whole = draw();
  const at::Tensor before = whole.tensor.clone();
  for (const at::Tensor& part : whole.shards())
    part.fill_(1);
  RC_ASSERT(difference(whole.tensor, before) == "");
}

// zero_pads makes the slots without a token zero and leaves the others bit for bit, also where a
// pad slot holds NaN or an infinity; x itself does not change.
RC_GTEST_PROP(Shard, ZeroPadsClearsSlotsWithoutAToken, ()) {
  const gen::Cut cut = *gen::cut().as("cut");
  const double poison = *gen::choice<double>({NAN, INFINITY, -INFINITY, 1e4}).as("poison");
  for (const Positions& positions : cut.layout().queries) {
    const at::Tensor tokens = normal({2, 3, count(positions), 2}, 1);
    at::Tensor x = tokens.clone(), expected = tokens.clone();
    int64_t slot = 0;
    for (const int64_t position : flatten(positions)) {
      if (!is_token(cut.sequence.mask, position)) {
        x.select(2, slot).fill_(poison);
        expected.select(2, slot).zero_();
      }
      ++slot;
    }
    const at::Tensor before = x.clone();
    RC_ASSERT(difference(zero_pads(x, cut.sequence.mask, positions), expected) == "");
    RC_ASSERT(difference(x, before) == "");
  }
}

// S = 1 and S < P: the token goes to one rank, the others hold pads only.
TEST(Shard, ShortSequencesLeaveRanksEmpty) {
  ASSERT_FALSE(Balancers::all().empty());
  for (const auto& [name, balancer] : Balancers::all())
    for (const int64_t length : {1, 2, 3}) {
      const std::vector<Positions> layout = layout_of(balancer, {{Causal{}, length}, 1}, 8).queries;
      const at::Tensor x = at::arange(1, length + 1, at::kLong);
      std::vector<at::Tensor> shards;
      int64_t tokens = 0;
      for (const Positions& positions : layout) {
        shards.push_back(shard(x, 0, positions));
        tokens += shards.back().count_nonzero().item<int64_t>();
      }
      EXPECT_EQ(tokens, length) << name;
      EXPECT_EQ(difference(unshard(shards, 0, layout, length), x), "") << name;
    }
}

}  // namespace
}  // namespace ringcheck
