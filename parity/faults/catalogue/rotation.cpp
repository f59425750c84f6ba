// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Blocks come past in the wrong number, from the wrong place, or too late.
#include <ATen/ATen.h>

#include <cmath>

#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"
#include "parity/faults/catalogue/cases.h"

namespace ringcheck::parity {
namespace {

using Block = std::optional<KvBlock>;

constexpr const char* kFive = "ring:alltoall/striped[2]/causal/P5/b2/hq4/hkv2/s40/d16/dv24";

SharedSubject skips(int hop) {
  return with_rotation([hop](Communicator&, const Layout&) {
    return [hop](Rotation& rotation, int step) {
      if (step == hop) rotation.next();
      return rotation.next();
    };
  });
}

SharedSubject skips_in(Phase phase, int hop) {
  return with_rotation([=](Communicator& comm, const Layout&) {
    return [=, &comm](Rotation& rotation, int step) {
      if (step == hop && comm.ledger().phase() == phase) rotation.next();
      return rotation.next();
    };
  });
}

// The label of every block is that of the owner so many places further round the ring.
SharedSubject mislabels(int places) {
  return with_rotation([places](Communicator& comm, const Layout& layout) {
    return [=, &comm](Rotation& rotation, int step) {
      Block block = rotation.next();
      const int world = comm.size();
      if (block && step > 0)
        block->positions = layout.keys[(comm.rank() + places * step % world + world) % world];
      return block;
    };
  });
}

// After the last block, one more hop whose block nobody uses.
SharedSubject one_hop_more() {
  return with_rotation([](Communicator& comm, const Layout&) {
    return [&comm, last = at::Tensor()](Rotation& rotation, int) mutable {
      Block block = rotation.next();
      if (block) {
        last = block->packed;
      } else {
        const at::Tensor unused = at::empty_like(last);
        comm.exchange(last, comm.right(), unused, comm.left(), {"exchange kv", comm.size()}).wait();
      }
      return block;
    };
  });
}

// The group is the world backwards; the layout is looked up with world ranks.
RankOutput by_world_rank(Communicator& comm, const Case& test, const RankInput& input) {
  const auto group = comm.split(0, -comm.rank());
  Parts parts = options_of(test);
  return context_parallel_with(parts, *group, test, input);
}

const Named kForward{.tensors = {"o", "lse"}};

const FaultGroup group{"rotation", {
  {"hop_skipped", {
    .operators = {"M13"}, .stands_for = "TransformerEngine#2484",
    .wrong = "the block of step 1 is fetched and never used",
    .site = Site::kRotation, .cases = {cases::kCausal, kFive},
    .names = {.tensors = {"o", "lse"}, .words = {"steps"}}, .subject = skips(1)}},
  {"last_hop_skipped", {
    .operators = {"M13"}, .stands_for = "last KV hop unused",
    .wrong = "the last block is fetched and never used",
    .site = Site::kRotation, .cases = {cases::kFull},
    .names = {.tensors = {"o", "lse"}, .words = {"steps"}}, .subject = skips(3)}},
  {"hop_skipped_in_backward", {
    .operators = {"M13"}, .stands_for = "TransformerEngine#2484",
    .wrong = "the backward pass leaves out step 1",
    .site = Site::kRotation, .cases = {cases::kGathered}, .names = {.words = {"steps"}},
    .subject = skips_in(Phase::kBackward, 1)}},
  {"hop_duplicated", {
    .operators = {"M14"}, .stands_for = "duplicated block",
    .wrong = "the block of step 1 is attended to twice, that of step 2 never",
    .site = Site::kRotation, .cases = {cases::kFull}, .names = kForward,
    .subject = with_rotation([](Communicator&, const Layout&) {
      return [kept = Block()](Rotation& rotation, int step) mutable {
        Block block = rotation.next();
        if (step == 1 && block) kept = own_copy(*block);
        return step == 2 ? kept : block;
      };
    })}},
  {"block_attended_twice", {
    .operators = {"M14"}, .stands_for = "sglang#33327",
    .wrong = "the last block is attended to once more: its keys count double",
    .site = Site::kRotation, .cases = {cases::kFull},
    .names = {.tensors = {"o", "lse"}, .words = {"steps"}},
    .subject = with_rotation([](Communicator& comm, const Layout&) {
      return [&comm, kept = Block()](Rotation& rotation, int step) mutable {
        Block block = rotation.next();
        if (comm.ledger().phase() == Phase::kBackward) return block;
        if (step == comm.size()) return kept;
        if (step == comm.size() - 1) kept = own_copy(*block);
        return block;
      };
    })}},
  {"wrong_owner", {
    .operators = {"M15"}, .stands_for = "swap peer",
    .wrong = "blocks are taken for those of the ring's other direction",
    .site = Site::kRotation, .cases = {cases::kCausal}, .names = kForward,
    .subject = mislabels(1)}},
  {"own_block_at_every_step", {
    .operators = {"M15"}, .stands_for = "vllm#48003",
    .wrong = "every step reads the own block, under the label of the right one",
    .site = Site::kRotation, .cases = {cases::kFull}, .names = kForward,
    .subject = with_rotation([](Communicator&, const Layout&) {
      return [own = PackedKv()](Rotation& rotation, int step) mutable {
        Block block = rotation.next();
        if (block && step == 0) own = *block;
        if (block) static_cast<PackedKv&>(*block) = own;
        return block;
      };
    })}},
  {"layout_by_world_rank", {
    .operators = {"M21"}, .stands_for = "DeepSpeed#7672",
    .wrong = "in a group whose ranks are not those of the world, the layout is looked up with "
              "world ranks",
    .site = Site::kStrategy, .cases = {cases::kContiguous}, .names = kForward,
    .subject = ours_with(by_world_rank)}},
  {"group_rank_as_world_rank", {
    .operators = {"M21"}, .stands_for = "ART#919",
    .wrong = "rank 0 addresses its left neighbour for its right one",
    .site = Site::kCommunicator, .cases = {"ring:p2p/headtail/causal/P4/b2/hq4/hkv2/s40/d16/dv24"},
    .names = {.words = {"peer 0"}},
    .subject = with_transfers([](Communicator&) {
      return [](Communicator& comm, Posting posting) {
        if (comm.rank() == 0 && posting.is("exchange kv"))
          for (Message& message : posting.sends) message.peer = comm.left();
        return post(comm, std::move(posting));
      };
    }), .hangs = true}},
  {"buffer_reused_while_it_is_sent", {
    .operators = {"M42"}, .stands_for = "PyTorch _attention.py",
    .wrong = "a block is overwritten before its neighbour has taken it",
    .site = Site::kRotation, .cases = {cases::kFull, kFive}, .names = kForward,
    .subject = with_rotation([](Communicator&, const Layout&) {
      return [last = at::Tensor()](Rotation& rotation, int step) mutable {
        if (step > 1 && last.defined()) last.fill_(NAN);
        Block block = rotation.next();
        last = block ? block->packed : at::Tensor();
        return block;
      };
    })}},
  {"context_parallelism_off", {
    .operators = {"M47"}, .stands_for = "axolotl#3928",
    .wrong = "every rank attends to its own shard and sends nothing",
    .site = Site::kRotation, .cases = {cases::kCausal},
    .names = {.tensors = {"o", "lse"}, .words = {"bytes sent"}},
    .subject = with_parts([](Parts& parts, Communicator&, const Case&) {
      struct Alone final : Rotation {
        Block block;
        void start(const KvBlock& own) override { block = own; }
        Block next() override { return std::exchange(block, std::nullopt); }
      };
      struct Own final : GradientCarrier {
        PackedKv sum;
        void add(const at::Tensor& dk, const at::Tensor& dv) override { sum = pack(dk, dv, {}); }
        PackedKv home() override { return sum; }
      };
      parts.plan.rotation_of = [](const std::string&) {
        return RotationEntry{
            [](Communicator&, const Layout&, RotationOptions) { return std::make_unique<Alone>(); },
            [](Communicator&, const KvShape&) { return std::make_unique<Own>(); }};
      };
    })}},
  {"context_parallelism_off_but_it_talks", {
    .operators = {"M47"}, .stands_for = "Automodel#3508",
    .wrong = "blocks travel, and every rank attends to its own alone",
    .site = Site::kRotation, .cases = {cases::kCausal},
    .names = {.tensors = {"o", "lse"}, .words = {"steps"}},
    .subject = with_rotation([](Communicator& comm, const Layout&) {
      return [&comm](Rotation& rotation, int step) {
        if (step == 0) return rotation.next();
        while (rotation.next()) {}
        return Block();
      };
    })}},
  {"one_hop_too_many", {
    .operators = {"M48"}, .stands_for = "ringattention_jax.py",
    .wrong = "K and V hop once more after the last step",
    .site = Site::kRotation, .cases = {cases::kCausal}, .names = {.words = {"messages"}},
    .subject = one_hop_more()}},
}};

}  // namespace
}  // namespace ringcheck::parity
