// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/head_groups.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cp/layout/shard.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

// Gradients of groups of heads on their way home. Another order of a sum is within every bound.
namespace ringcheck {
namespace {

// The terms of every rank, [batch, heads, length, dim] of dK and of dV, so unlike in size that each
// order of their sum has bits of its own.
struct Terms {
  std::vector<at::Tensor> dk, dv;
};

Terms terms(int world, const KvShape& whole, uint64_t seed) {
  Terms terms;
  for (int rank = 0; rank < world; ++rank) {
    const auto drawn = [&](int64_t dim, uint64_t which) {
      return normal({whole.batch, whole.heads, whole.slots, dim}, seed + 2 * rank + which, at::kFloat) *
             std::ldexp(1.0, 3 * (rank % 4));
    };
    terms.dk.push_back(drawn(whole.dim, 0));
    terms.dv.push_back(drawn(whole.dim_v, 1));
  }
  return terms;
}

// In the order of the ranks, as the slots of a shard; pads are 0.
at::Tensor sum_of(const std::vector<at::Tensor>& terms, const Positions& positions) {
  at::Tensor sum = terms.front().clone();
  for (size_t rank = 1; rank < terms.size(); ++rank) sum += terms[rank];
  return shard(sum, 2, positions);
}

RC_GTEST_PROP(HeadGroups, AddTheTermsOfTheRanksInTheirOrder, ()) {
  const gen::Cut cut = *gen::cut().as("cut");
  const int64_t groups = *gen::between(1, 8).as("groups"), each = *gen::between(1, 2).as("heads of a group");
  const std::vector<Positions> shards = cut.layout().queries;
  const KvShape whole{*gen::between(1, 2).as("batch"), groups * each, cut.length(), 4, 3, at::kFloat};
  const Terms all = terms(cut.world, whole, *gen::seed().as("seed"));
  const auto wrong = on_every_rank(cut.world, [&](Communicator& comm) {
    const SequenceOrder order(shards, cut.length());
    KvShape own = whole;
    own.slots = count(shards[comm.rank()]);
    own.device = comm.device();
    HeadsHome home(comm, order, own, groups);
    for (int64_t group = 0; group < groups; ++group) {
      const auto of_group = [&](const std::vector<at::Tensor>& x) {
        return x[comm.rank()].narrow(1, group * each, each).contiguous().to(comm.device());
      };
      home.add(of_group(all.dk), of_group(all.dv));
    }
    const PackedKv sum = home.home();
    comm.finish();
    return difference(sum.k().cpu(), sum_of(all.dk, shards[comm.rank()])) +
           difference(sum.v().cpu(), sum_of(all.dv, shards[comm.rank()]));
  });
  RC_ASSERT(wrong == std::vector<std::string>(cut.world));
}

}  // namespace
}  // namespace ringcheck
