// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Tokens, heads or batches are not where they are thought to be.
#include <ATen/ATen.h>

#include <cmath>
#include <numeric>

#include "cp/layout/balancer.h"
#include "cp/layout/shard.h"
#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"
#include "parity/faults/catalogue/cases.h"

namespace ringcheck::parity {
namespace {

// Equal sizes everywhere, so that no mistaken layout can be seen by its shape.
constexpr const char* kCube = "ring:p2p/contiguous/causal/P3/b8/hq8/hkv8/s24/d8/dv8";
constexpr const char* kGroups = "ring:p2p/headtail/causal/P3/b1/hq6/hkv2/s36/d16/dv24";
constexpr const char* kFewHeads = "ring:p2p/headtail/causal/P4/b1/hq4/hkv2/s40/d16/dv24";

Layout layout_by(const char* balancer, const Case& test) {
  return ringcheck::layout_of(Balancers::at(balancer), {mask_of(test), test.block}, test.world);
}

void for_each(Problem& local, const std::function<void(at::Tensor&)>& change) {
  for (at::Tensor* x : {&local.q, &local.k, &local.v, &local.d_o}) change(*x);
}

// The shards hold what another balancer would give them.
SharedSubject dealt_by(const char* balancer) {
  return with_input([balancer](Problem& local, Communicator& comm, const Case& test) {
    local = shard_of(whole_of(local, comm, test), layout_by(balancer, test).queries.at(comm.rank()));
  });
}

// The shards are put in order a second time.
SharedSubject reordered_twice() {
  return with_input([](Problem& local, Communicator& comm, const Case& test) {
    std::vector<Span> order;
    for (const Positions& own : layout_of(test).queries) order.insert(order.end(), own.begin(), own.end());
    Problem whole = whole_of(local, comm, test);
    for_each(whole, [&](at::Tensor& x) { x = shard(x, 2, order); });
    local = shard_of(whole, layout_of(test).queries.at(comm.rank()));
  });
}

// The output is put together as if another balancer had cut it.
SharedSubject assembled_by(const char* balancer) {
  return with_output([balancer](RankOutput& output, Communicator& comm, const Case& test) {
    const Case other = [&] {
      Case c = test;
      c.balance = balancer;
      return c;
    }();
    output.o = shard(whole_of(output.o, comm, other), 2, layout_of(test).queries.at(comm.rank()));
  });
}

// x, read as if two of its dimensions lay the other way round in memory.
at::Tensor misread(const at::Tensor& x, int64_t a, int64_t b) {
  return x.transpose(a, b).contiguous().view(x.sizes());
}

SharedSubject misread_input(int64_t a, int64_t b) {
  return with_input([a, b](Problem& local, Communicator&, const Case&) {
    for (at::Tensor* x : {&local.k, &local.v}) *x = misread(*x, a, b);
  });
}

// Query head h reads key-value head h % Hkv in place of h / g: heads in that order, and back.
SharedSubject heads_modulo() {
  return with_kernel([](Communicator&, const Case& test) {
    std::vector<int64_t> order(test.q_heads), back(test.q_heads);
    const int64_t group = test.q_heads / test.kv_heads;
    for (int64_t h = 0; h < test.q_heads; ++h) {
      order[h] = h % group * test.kv_heads + h / group;
      back[order[h]] = h;
    }
    const auto select = [](at::Tensor& x, const std::vector<int64_t>& heads) {
      if (x.defined()) x = x.index_select(1, at::tensor(heads, at::kLong).to(x.device()));
    };
    return AroundKernel{
        [=](KernelCall& call) {
          select(call.q.q, order);
          if (!call.saved) return;
          Saved& saved = *call.saved;
          for (at::Tensor* x : {&saved.o, &saved.lse, &saved.d, &saved.d_o}) select(*x, order);
        },
        [=](const KernelCall&, Partial& part) { select(part.out, back), select(part.lse, back); },
        [=](const KernelCall&, Gradients& term) { select(term.dq, back); }};
  });
}

// Offsets into K and V wrap after so many elements.
SharedSubject offsets_wrap(int64_t elements) {
  return with_kernel([elements](Communicator&, const Case&) {
    return AroundKernel{[elements](KernelCall& call) {
      call.kv = own_copy(call.kv);
      const at::Tensor offset =
          at::arange(call.kv.packed.numel(), call.kv.packed.options().dtype(at::kLong));
      call.kv.packed = call.kv.packed.index_select(0, offset.remainder(elements)).contiguous();
    }};
  });
}

// The layout of the group is read by the rank in the world.
void shard_of_the_world_rank(Parts& parts, Communicator& comm, const Case&) {
  for (std::vector<Positions>* side : {&parts.plan.layout.queries, &parts.plan.layout.keys}) {
    const std::vector<Positions> all = *side;
    for (int rank = 0; rank < comm.size(); ++rank)
      (*side)[rank] = all[comm.world_rank(rank) % comm.size()];
  }
}

const Named kForward{.tensors = {"o", "lse"}};

const FaultGroup group{"sharding", {
  {"reorder_missing", {
    .operators = {"M22"}, .stands_for = "slime#1871",
    .wrong = "the sequence is cut into plain pieces and taken for head and tail ones",
    .site = Site::kBalancer, .cases = {cases::kCausal}, .names = kForward,
    .subject = dealt_by("contiguous")}},
  {"reorder_doubled", {
    .operators = {"M22"}, .stands_for = "ms-swift#10071",
    .wrong = "the tokens are put in the balancer's order twice",
    .site = Site::kBalancer, .cases = {cases::kCausal}, .names = kForward,
    .subject = reordered_twice()}},
  {"shard_of_the_world_rank", {
    .operators = {"M45"}, .stands_for = "ranks of tensor parallelism between those of a sequence",
    .wrong = "in a group that is not the world a rank takes the positions of another one",
    .site = Site::kBalancer, .cases = {cases::kCausal}, .names = kForward, .proves = "groups",
    .subject = with_parts(shard_of_the_world_rank)}},
  {"contiguous_taken_for_zigzag", {
    .operators = {"M23"}, .stands_for = "slime#1871",
    .wrong = "plain shards are put together as head and tail ones",
    .site = Site::kBalancer, .cases = {cases::kContiguous}, .names = {.tensors = {"o"}},
    .subject = assembled_by("headtail")}},
  {"zigzag_taken_for_contiguous", {
    .operators = {"M23"}, .stands_for = "ms-swift#10071",
    .wrong = "head and tail shards are put together as plain ones",
    .site = Site::kBalancer, .cases = {cases::kCausal}, .names = {.tensors = {"o"}},
    .subject = assembled_by("contiguous")}},
  {"batch_and_heads_swapped", {
    .operators = {"M24"}, .stands_for = "DeepSpeed#5808",
    .wrong = "K and V are read with batch and heads the other way round",
    .site = Site::kInput, .cases = {kCube}, .names = kForward, .subject = misread_input(0, 1)}},
  {"heads_and_sequence_swapped", {
    .operators = {"M24"}, .stands_for = "diffusers#14338",
    .wrong = "K and V are read with heads and sequence the other way round, where both are "
              "equal",
    .site = Site::kInput, .cases = {kCube}, .names = kForward, .subject = misread_input(1, 2)}},
  {"sequence_and_channels_swapped", {
    .operators = {"M24"}, .stands_for = "DeepSpeed#8317",
    .wrong = "K and V are read with sequence and channels the other way round",
    .site = Site::kInput, .cases = {kCube}, .names = kForward, .subject = misread_input(2, 3)}},
  {"strides_ignored", {
    .operators = {"M41"}, .stands_for = "pytorch#141816",
    .wrong = "q is a view with other strides, and read as if it were contiguous",
    .site = Site::kInput, .cases = {cases::kCausal}, .names = kForward,
    .subject = with_input([](Problem& local, Communicator&, const Case&) {
      local.q = misread(local.q, 1, 2);
    })}},
  {"strides_ignored_from_batch_2", {
    .operators = {"M41"}, .stands_for = "sglang#39291",
    .wrong = "a slice of a batch is taken for contiguous, which it is only while the batch is "
              "1",
    .site = Site::kInput, .cases = {cases::kCausal}, .names = kForward,
    .subject = with_input([](Problem& local, Communicator&, const Case&) {
      if (local.v.size(0) > 1) local.v = misread(local.v, 0, 2);
    })}},
  {"memory_order_ignored", {
    .operators = {"M41"}, .stands_for = "a kernel that is given a pointer and no strides",
    .wrong = "the memory of k is read in its own order, which is that of k only where it is contiguous",
    .site = Site::kInput, .cases = {cases::kCausal}, .names = kForward, .proves = "strides",
    .subject = with_input([](Problem& local, Communicator&, const Case&) {
      const at::IntArrayRef sizes = local.k.sizes();
      local.k = local.k.as_strided(sizes, at::empty(sizes, at::kMeta).strides()).clone();
    })}},
  {"sharded_twice", {
    .operators = {"M25"}, .stands_for = "axolotl#3498",
    .wrong = "two layers shard: of each shard only one part in P is left",
    .site = Site::kInput, .cases = {cases::kFull}, .names = kForward,
    .subject = with_input([](Problem& local, Communicator& comm, const Case&) {
      const int64_t left = local.q.size(2) / comm.size();
      for_each(local, [&](at::Tensor& x) {
        x.narrow(2, left, x.size(2) - left).zero_();
      });
    })}},
  {"heads_shared_modulo", {
    .operators = {"M26"}, .stands_for = "vllm-omni#5716, VeOmni#162",
    .wrong = "query head h reads key-value head h % Hkv in place of h / (Hq / Hkv)",
    .site = Site::kKernel, .cases = {kGroups}, .names = kForward, .subject = heads_modulo()}},
  {"ranks_without_kv_head", {
    .operators = {"M27"}, .stands_for = "LlamaFactory#10794",
    .wrong = "with fewer key-value heads than ranks, ranks from Hkv on hold no K and V",
    .site = Site::kInput, .cases = {kFewHeads}, .names = kForward,
    .subject = with_input([](Problem& local, Communicator& comm, const Case& test) {
      if (comm.rank() < test.kv_heads) return;
      local.k.zero_();
      local.v.zero_();
    })}},
  {"offset_wraps", {
    .operators = {"M57"}, .stands_for = "mamba#1015",
    .wrong = "offsets into K and V in a type that wraps (at 512 elements here, at 2^31 there)",
    .site = Site::kKernel, .cases = {cases::kFull}, .names = kForward,
    .subject = offsets_wrap(512)}},
}};

}  // namespace
}  // namespace ringcheck::parity
