// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/rotation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "cp/ledger/memory.h"
#include "cp/attention/partial.h"
#include "parity/faults/decorators/communicator.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

struct Setting {
  std::string rotation;
  RotationOptions options;
  gen::Cut cut;
  KvShape shape;  // of one block
  const RotationEntry& entry() const { return Rotations::at(rotation); }
};

Setting draw() {
  Setting s{*gen::name_of<Rotations>().as("rotation"), {}, *gen::cut().as("cut"), {}};
  s.options.keep = s.entry().can_keep && *gen::flag().as("keep");
  s.shape = {*gen::between(1, 2).as("batch"), *gen::between(1, 2).as("heads"),
             count(s.cut.layout().queries[0]), *gen::between(1, 4).as("dim"),
             *gen::between(1, 5).as("dim_v")};
  s.shape.dtype = *gen::dtype().as("dtype");
  return s;
}

// Riders: K and V hold values from which owner, head, slot and channel can be told.
KvBlock block_of(const Setting& s, int owner, int64_t salt = 0) {
  const KvShape& n = s.shape;
  const uint64_t seed = 10 * static_cast<uint64_t>(owner) + static_cast<uint64_t>(salt);
  return apart(normal({n.batch, n.heads, n.slots, n.dim}, seed + 1, n.dtype),
               normal({n.batch, n.heads, n.slots, n.dim_v}, seed + 5, n.dtype),
               s.cut.layout().queries[owner]);
}

// Whether a block is that of `owner`, in content, positions and heads.
std::string unlike(const KvBlock& block, const KvBlock& owner) {
  if (block.positions != owner.positions)
    return "positions of another rank; ";
  if (block.heads.begin != owner.heads.begin || block.heads.count != owner.heads.count)
    return "other heads; ";
  if (block.k().strides() != owner.k().strides() || block.v().strides() != owner.v().strides())
    return "other strides; ";
  return difference(block.k(), owner.k()) + difference(block.v(), owner.v());
}

// One round: says what was wrong with the blocks on this rank. `agree` keeps all ranks together,
// so that every transfer is posted before a block is looked at for the second time.
std::string round(Communicator& comm, Rotation& rotation, const Setting& s, int64_t salt,
                  bool agree) {
  const KvBlock own = block_of(s, comm.rank(), salt);
  std::string wrong;
  rotation.start(own);
  for (int step = 0; step < comm.size(); ++step) {
    const auto kv = rotation.next();
    if (!kv)
      return "too few blocks";
    const int owner = (comm.rank() + comm.size() - step) % comm.size();
    wrong += unlike(*kv, block_of(s, owner, salt));
    if ((step > 0 || kv->packed.defined()) && reinterpret_cast<uintptr_t>(kv->packed.data_ptr()) % 128 != 0)
      wrong += "unaligned; ";
    if (!agree)
      continue;
    comm.agree_max(int64_t{step});
    wrong += unlike(*kv, block_of(s, owner, salt));
  }
  if (rotation.next())
    wrong += "one block too many; ";
  return wrong + unlike(own, block_of(s, comm.rank(), salt));
}

// Rank r sees owners r, r - 1, ..., r - P + 1, each once, and the label of a block matches its
// content; a block is intact for as long as it is in use; a second start does the same again.
RC_GTEST_PROP(Rotation, EveryRankSeesEveryOwnerOnceInRingOrder, ()) {
  const Setting s = draw();
  const bool agree = *gen::flag().as("agree at every step");
  const auto wrong = on_every_rank(s.cut.world, [&](Communicator& comm) {
    const auto rotation = s.entry().rotation(comm, s.cut.layout(), s.options);
    const std::string first = round(comm, *rotation, s, 0, agree);
    // Kept blocks are those of the first round.
    return first + round(comm, *rotation, s, s.options.keep ? 0 : 1, agree);
  });
  RC_ASSERT(wrong == std::vector<std::string>(s.cut.world));
}

// A round whose transfer fails leaves nothing behind, not even what would be kept.
RC_GTEST_PROP(Rotation, ARoundAfterOneThatFailedIsWhole, ()) {
  const Setting s = draw();
  RC_PRE(s.cut.world > 1);
  const int transfers = s.rotation == "allgather" ? 1 : s.cut.world - 1;
  const auto fails = static_cast<int>(*gen::between(0, transfers - 1).as("transfer that fails"));
  const auto wrong = on_every_rank(s.cut.world, [&](Communicator& comm) -> std::string {
    int transfer = 0;
    const auto failing = parity::with_transfer(comm, [&](Communicator& inner, parity::Posting posting) {
      Pending done = parity::post(inner, std::move(posting));
      if (transfer++ != fails) return done;
      return Pending([] { throw std::runtime_error("failed"); });
    });
    const auto rotation = s.entry().rotation(*failing, s.cut.layout(), s.options);
    try {
      round(*failing, *rotation, s, 0, false);
      return "the round did not fail";
    } catch (const std::runtime_error&) {
      comm.agree_max(int64_t{0});
      return round(*failing, *rotation, s, 1, false);
    }
  });
  RC_ASSERT(wrong == std::vector<std::string>(s.cut.world));
}

// The same in every group of a split world: offset, strided or reversed.
RC_GTEST_PROP(Rotation, GroupsRotateLikeWorlds, ()) {
  const Setting s = draw();
  const int groups = static_cast<int>(*gen::between(2, 3).as("groups"));
  const int order = *gen::choice<int>({1, -1}).as("order");
  const bool strided = *gen::flag().as("strided");
  const auto wrong = on_every_rank(s.cut.world * groups, [&](Communicator& world) {
    const int color = strided ? world.rank() % groups : world.rank() / s.cut.world;
    const auto comm = world.split(color, order * world.rank());
    const auto rotation = s.entry().rotation(*comm, s.cut.layout(), s.options);
    return round(*comm, *rotation, s, color, false);
  });
  RC_ASSERT(wrong == std::vector<std::string>(s.cut.world * groups));
}

Counters counted(const Ledger& ledger) { return ledger.sum(Phase::kForward); }

Counters expected(int64_t messages, int64_t bytes) {
  Counters c;
  c.messages = messages;
  c.bytes_sent = c.bytes_received = messages * bytes;
  return c;
}

// K and V together are one message; P - 1 of them bring all blocks past, whatever the rotation.
RC_GTEST_PROP(Rotation, RotatingSendsOneMessageAHop, ()) {
  const Setting s = draw();
  const auto counters = on_every_rank(s.cut.world, [&](Communicator& comm) {
    const Ledger::Scope scope(comm.ledger(), Phase::kForward);
    const auto rotation = s.entry().rotation(comm, s.cut.layout(), s.options);
    round(comm, *rotation, s, 0, false);
    return counted(comm.ledger());
  });
  const Counters one = expected(s.cut.world - 1, s.shape.bytes());
  RC_ASSERT((counters == std::vector<Counters>(s.cut.world, one)));
}

// Every further round moves everything again, unless what was gathered is kept.
RC_GTEST_PROP(Rotation, KeepGathersOnce, ()) {
  const Setting s = draw();
  const auto counters = on_every_rank(s.cut.world, [&](Communicator& comm) {
    const Ledger::Scope scope(comm.ledger(), Phase::kForward);
    const auto rotation = s.entry().rotation(comm, s.cut.layout(), s.options);
    for (int i = 0; i < 3; ++i) round(comm, *rotation, s, 0, false);
    return counted(comm.ledger());
  });
  const Counters all = expected((s.options.keep ? 1 : 3) * (s.cut.world - 1), s.shape.bytes());
  RC_ASSERT((counters == std::vector<Counters>(s.cut.world, all)));
}

// Rings talk to their neighbours only: to the right, and from the left.
RC_GTEST_PROP(Rotation, RingsTalkToTheirNeighbours, ()) {
  Setting s = draw();
  s.rotation = *gen::choice<std::string>({"p2p", "alltoall"}).as("ring");
  s.options = {};
  const auto strangers = on_every_rank(s.cut.world, [&](Communicator& comm) {
    const Ledger::Scope scope(comm.ledger(), Phase::kForward);
    const auto rotation = s.entry().rotation(comm, s.cut.layout(), s.options);
    round(comm, *rotation, s, 0, false);
    return std::ranges::count_if(comm.ledger().transfers(), [&](const Transferred& event) {
      const bool sent = event.direction == Transferred::Direction::kSent;
      return event.operation.peer != (sent ? comm.right() : comm.left());
    });
  });
  RC_ASSERT((strangers == std::vector<std::ptrdiff_t>(s.cut.world, 0)));
}

// On return, next() has posted the transfer of the following block: a rank that stops using its
// blocks does not keep its neighbour waiting for one that it holds already.
RC_GTEST_PROP(Rotation, NextHasPostedTheFollowingTransfer, ()) {
  const Setting s = draw();
  const auto late = on_every_rank(s.cut.world, [&](Communicator& comm) {
    const Ledger::Scope scope(comm.ledger(), Phase::kForward);
    const auto rotation = s.entry().rotation(comm, s.cut.layout(), s.options);
    rotation->start(block_of(s, comm.rank()));
    int behind = 0;
    for (int step = 1; rotation->next(); ++step)
      behind += counted(comm.ledger()).messages < std::min(step, comm.size() - 1);
    return behind;
  });
  RC_ASSERT(late == std::vector<int>(s.cut.world, 0));
}

struct KvHeld {
  int64_t peak = 0, after = 0;
  bool operator==(const KvHeld&) const = default;
};
void showValue(const KvHeld& held, std::ostream& out) {
  out << "peak " << held.peak << ", after " << held.after;
}

// K and V held: two blocks in a ring, P + 1 in an all-gather; nothing afterwards, but what is kept.
RC_GTEST_PROP(Rotation, HoldsExactlyTheBlocksOfItsContract, ()) {
  const Setting s = draw();
  const auto held = on_every_rank(s.cut.world, [&](Communicator& comm) {
    const Metered metered(comm.ledger().memory());
    const auto& kv = comm.ledger().memory()->tagged(MemoryTag::kKv);
    const KvBlock own = block_of(s, comm.rank());
    const auto rotation = s.entry().rotation(comm, s.cut.layout(), s.options);
    for (int rounds = 0; rounds < 2; ++rounds) {
      rotation->start(own);
      while (rotation->next())
        comm.agree_max(int64_t{0});
      comm.finish();
    }
    return KvHeld{kv.peak, kv.now};
  });
  const int64_t world = s.cut.world, bytes = s.shape.bytes();
  const int64_t blocks = s.rotation == "allgather" ? world + 1 : world > 1 ? 2 : 0;
  const KvHeld one{blocks * bytes, (s.options.keep ? world : 0) * bytes};
  RC_ASSERT(held == std::vector<KvHeld>(s.cut.world, one));
}

}  // namespace
}  // namespace ringcheck
