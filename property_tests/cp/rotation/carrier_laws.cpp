// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cp/ledger/memory.h"
#include "cp/attention/rotation.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

struct Setting {
  std::string rotation;
  int world = 1;
  KvShape shape;
  uint64_t seed = 1;
};

Setting draw() {
  Setting s{*gen::name_of<Rotations>().as("rotation"), *gen::world().as("world"), {}, 1};
  s.shape = {*gen::between(1, 2).as("batch"), *gen::between(1, 3).as("heads"),
             *gen::between(1, 5).as("slots"), *gen::between(1, 4).as("dim"),
             *gen::between(1, 5).as("dim_v")};
  s.shape.dtype = *gen::choice<at::ScalarType>({at::kFloat, at::kDouble}).as("dtype");
  s.seed = *gen::seed().as("seed");
  return s;
}

// d_r of owner o: what rank r computes for it. Magnitudes differ by rank, so that sums in another
// order have other bits.
Gradients term(const Setting& s, int computing, int owner) {
  const KvShape& n = s.shape;
  const uint64_t seed = s.seed + static_cast<uint64_t>(100 * owner + computing);
  const double size = std::pow(10.0, computing % 3);
  return {{},
          normal({n.batch, n.heads, n.slots, n.dim}, seed, n.dtype) * size,
          normal({n.batch, n.heads, n.slots, n.dim_v}, seed + 50, n.dtype) * size};
}

// ((d_o + d_{o+1}) + ...) + d_{o+P-1}
Gradients ordered_sum(const Setting& s, int owner) {
  Gradients sum = term(s, owner, owner);
  for (int step = 1; step < s.world; ++step) {
    const Gradients next = term(s, (owner + step) % s.world, owner);
    sum = {{}, sum.dk + next.dk, sum.dv + next.dv};
  }
  return sum;
}

// One journey of all gradients, as a backward pass makes it.
PackedKv carry(Communicator& comm, const Setting& s) {
  const auto carrier = Rotations::at(s.rotation).carrier(comm, s.shape);
  for (int step = 0; step < comm.size(); ++step) {
    Gradients d = term(s, comm.rank(), (comm.rank() + comm.size() - step) % comm.size());
    carrier->add(d.dk, d.dv);
    d.dk.fill_(NAN);  // what was added is the caller's again
    d.dv.fill_(NAN);
  }
  return carrier->home();
}

// home() is the sum of all terms of the own block in ring order, bit for bit.
RC_GTEST_PROP(GradientCarrier, GradientsComeHomeInRingOrder, ()) {
  const Setting s = draw();
  const auto wrong = on_every_rank(s.world, [&](Communicator& comm) {
    const PackedKv home = carry(comm, s);
    const Gradients sum = ordered_sum(s, comm.rank());
    return difference(home.k(), sum.dk) + difference(home.v(), sum.dv);
  });
  RC_ASSERT(wrong == std::vector<std::string>(s.world));
}

// The law above can see order: on these values, ascending and ring order differ.
TEST(GradientCarrier, TheOrderOfTheSumIsVisible) {
  const Setting s{"p2p", 5, {1, 2, 5, 4, 4}, 7};
  const int owner = 2;
  at::Tensor ascending = term(s, 0, owner).dk;
  for (int r = 1; r < s.world; ++r)
    ascending = ascending + term(s, r, owner).dk;
  EXPECT_NE(difference(ascending, ordered_sum(s, owner).dk), "");
}

// The same in every group of a split world.
RC_GTEST_PROP(GradientCarrier, GroupsCarryLikeWorlds, ()) {
  const Setting s = draw();
  const int order = *gen::choice<int>({1, -1}).as("order");
  const auto wrong = on_every_rank(2 * s.world, [&](Communicator& world) {
    const auto comm = world.split(world.rank() % 2, order * world.rank());
    Setting mine = s;
    mine.seed += static_cast<uint64_t>(world.rank() % 2) * 5000;
    const PackedKv home = carry(*comm, mine);
    const Gradients sum = ordered_sum(mine, comm->rank());
    return difference(home.k(), sum.dk) + difference(home.v(), sum.dv);
  });
  RC_ASSERT(wrong == std::vector<std::string>(2 * s.world));
}

// A ring makes P hops, the last one home; the all-gather sends each of P - 1 terms straight there.
RC_GTEST_PROP(GradientCarrier, CarryingSendsOneMessageAHop, ()) {
  const Setting s = draw();
  const auto counters = on_every_rank(s.world, [&](Communicator& comm) {
    const Ledger::Scope scope(comm.ledger(), Phase::kBackward);
    carry(comm, s);
    return comm.ledger().sum(Phase::kBackward);
  });
  Counters one;
  one.messages = s.world == 1 ? 0 : s.rotation == "allgather" ? s.world - 1 : s.world;
  one.bytes_sent = one.bytes_received = one.messages * s.shape.bytes();
  RC_ASSERT((counters == std::vector<Counters>(s.world, one)));
}

// Every term of the all-gather goes to another rank: as many bytes to each.
RC_GTEST_PROP(GradientCarrier, TermsGoStraightToTheirOwners, ()) {
  Setting s = draw();
  s.rotation = "allgather";
  const auto peers = on_every_rank(s.world, [&](Communicator& comm) {
    const Ledger::Scope scope(comm.ledger(), Phase::kBackward);
    carry(comm, s);
    std::vector<int> sent(s.world), received(s.world);
    for (const Transferred& event : comm.ledger().transfers())
      ++(event.direction == Transferred::Direction::kSent ? sent : received)[event.operation.peer];
    sent[comm.rank()] += 1;
    received[comm.rank()] += 1;
    return std::pair{sent, received};
  });
  const std::vector<int> once(s.world, 1);
  for (const auto& [sent, received] : peers) {
    RC_ASSERT(sent == once);
    RC_ASSERT(received == once);
  }
}

// Travellers held: the sum and the incoming one in a ring; own sum, outgoing and incoming in an
// all-gather; one where nothing travels. All are free once the gradients are dropped.
RC_GTEST_PROP(GradientCarrier, HoldsExactlyTheTravellersOfItsContract, ()) {
  const Setting s = draw();
  const auto held = on_every_rank(s.world, [&](Communicator& comm) {
    const Metered metered(comm.ledger().memory());
    carry(comm, s);
    comm.finish();
    const Held& travellers = comm.ledger().memory()->tagged(MemoryTag::kTraveller);
    return std::pair{travellers.peak, travellers.now};
  });
  const int64_t blocks = s.world == 1 ? 1 : s.rotation == "allgather" ? 3 : 2;
  for (const auto& [peak, now] : held) {
    RC_ASSERT(peak == blocks * s.shape.bytes());
    RC_ASSERT(now == 0);
  }
}

}  // namespace
}  // namespace ringcheck
