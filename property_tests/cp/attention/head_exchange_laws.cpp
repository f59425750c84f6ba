// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/head_exchange.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cp/layout/shard.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

// Heads for positions and back, as all ranks of a world see it.
namespace ringcheck {
namespace {

struct Drawn {
  gen::Cut cut;
  int64_t groups = 1;
  at::Tensor whole;  // [batch, heads, length, ...]

  std::vector<Positions> shards() const { return cut.layout().queries; }
  at::Tensor shard_of(int rank) const { return shard(whole, 2, shards()[rank]).contiguous(); }
  at::Tensor heads_of(int rank, int64_t group) const {
    const int64_t share = whole.size(1) / (cut.world * groups);
    return whole.narrow(1, (rank * groups + group) * share, share).contiguous();
  }
  // A shard whose pad slots hold this.
  at::Tensor padded(const at::Tensor& shard, int rank, double pad) const {
    const at::Tensor positions = at::tensor(flatten(shards()[rank]), at::kLong);
    const at::Tensor pads = (positions >= cut.length()).nonzero().view(-1);
    return shard.index_fill(2, pads, pad);
  }
  at::Tensor sequence() const { return at::full_like(heads_of(0, 0), NAN); }
  HeadExchange exchange(Communicator& comm) const { return HeadExchange(comm, groups); }
};

Drawn drawn() {
  Drawn drawn{*gen::cut().as("cut"), *gen::between(1, 3).as("groups"), {}};
  const int64_t batch = *gen::between(1, 3).as("batch"), share = *gen::between(1, 3).as("share");
  std::vector<int64_t> sizes{batch, share * drawn.groups * drawn.cut.world, drawn.cut.length()};
  if (*gen::flag().as("channels")) sizes.push_back(8);
  drawn.whole = normal(sizes, *gen::seed().as("seed"), *gen::dtype().as("dtype"));
  return drawn;
}

// Rank r gets its share of the heads over the whole sequence, in its order, a group after the other.
RC_GTEST_PROP(HeadExchange, EveryRankGetsItsHeadsInOrder, ()) {
  const Drawn d = drawn();
  const auto wrong = on_every_rank(d.cut.world, [&](Communicator& comm) {
    const SequenceOrder order(d.shards(), d.cut.length());
    const at::Tensor own = d.shard_of(comm.rank()).to(comm.device());
    HeadExchange exchange = d.exchange(comm);
    std::string wrong;
    for (int64_t group = 0; group < d.groups; ++group) {
      const at::Tensor sequence = d.sequence().to(comm.device());
      exchange.to_sequences({{own, sequence, order}}, group, "test").wait();
      comm.finish();
      wrong += difference(sequence.cpu(), d.heads_of(comm.rank(), group));
    }
    return wrong;
  });
  RC_ASSERT(wrong == std::vector<std::string>(d.cut.world));
}

// And back: the shards as they were, pad slots as asked for, also where all groups are under way at once.
RC_GTEST_PROP(HeadExchange, BackIsTheInverse, ()) {
  const Drawn d = drawn();
  const double pad = *gen::flag().as("pads of an LSE") ? -INFINITY : 0;
  const auto wrong = on_every_rank(d.cut.world, [&](Communicator& comm) {
    const SequenceOrder order(d.shards(), d.cut.length());
    const at::Tensor own = d.shard_of(comm.rank()).to(comm.device());
    const at::Tensor back = at::full_like(own, NAN);
    HeadExchange exchange = d.exchange(comm);
    std::vector<at::Tensor> sequences;
    std::vector<Pending> there, home;
    for (int64_t group = 0; group < d.groups; ++group) {
      sequences.push_back(d.sequence().to(comm.device()));
      there.push_back(exchange.to_sequences({{own, sequences.back(), order}}, group, "there"));
    }
    for (int64_t group = 0; group < d.groups; ++group) {
      there[group].wait();
      home.push_back(exchange.to_shards({{back, sequences[group], order, MemoryTag::kOther, pad}}, group, "home"));
    }
    for (Pending& group : home) group.wait();
    comm.finish();
    return difference(back.cpu(), d.padded(own.cpu(), comm.rank(), pad));
  });
  RC_ASSERT(wrong == std::vector<std::string>(d.cut.world));
}

// Tensors of unlike shapes and dtypes travel together, each to its own place.
RC_GTEST_PROP(HeadExchange, TensorsDoNotMix, ()) {
  const Drawn one = drawn();
  Drawn other = one;
  const int64_t heads = one.groups * one.cut.world * *gen::between(1, 2).as("other share");
  other.whole = normal({one.whole.size(0), heads, one.cut.length(), 4}, *gen::seed().as("other seed"));
  const auto wrong = on_every_rank(one.cut.world, [&](Communicator& comm) {
    const SequenceOrder order(one.shards(), one.cut.length());
    const at::Device here = comm.device();
    const at::Tensor a = one.sequence().to(here), b = other.sequence().to(here);
    const at::Tensor shard_a = one.shard_of(comm.rank()).to(here);
    const at::Tensor shard_b = other.shard_of(comm.rank()).to(here);
    const int64_t last = one.groups - 1;
    one.exchange(comm).to_sequences({{shard_a, a, order}, {shard_b, b, order}}, last, "test").wait();
    comm.finish();
    return difference(a.cpu(), one.heads_of(comm.rank(), last)) +
           difference(b.cpu(), other.heads_of(comm.rank(), last));
  });
  RC_ASSERT(wrong == std::vector<std::string>(one.cut.world));
}

}  // namespace
}  // namespace ringcheck
