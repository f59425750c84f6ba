// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <limits>
#include <numeric>
#include <utility>

#include "cp/attention/group_arguments.h"
#include "cp/attention/head_exchange.h"
#include "cp/attention/recorded_kernel.h"
#include "cp/attention/strategy.h"

namespace ringcheck {
namespace {

constexpr double kNoKeys = -std::numeric_limits<double>::infinity();

// A contiguous tensor that keeps no more memory alive than it has: kernels return views.
at::Tensor alone_in_memory(const at::Tensor& x) {
  if (x.is_contiguous() && x.nbytes() == x.storage().nbytes()) return x;
  return x.clone(at::MemoryFormat::Contiguous);
}

// Heads by all-to-all (Jacobs et al., DeepSpeed-Ulysses, 2023): every head is attended by one rank,
// over the whole sequence in its order, so that nothing is merged and no gradient is a sum over
// ranks. What comes of a head is complete where it is computed: it is rounded there, once, and
// travels in the dtype. The heads of a rank go in groups: while one is attended the next is under
// way, and what came of the one before. What the kernel is given forward stays for the backward pass.
class Ulysses final : public Strategy {
 public:
  Ulysses(Communicator& comm, const Plan& plan, int64_t groups)
      : comm_(comm), kernel_(plan, comm.ledger()), finished_(plan.finished), groups_(groups),
        exchange_(comm, groups), queries_(plan.layout.queries, plan.scores.mask.length),
        keys_(plan.layout.keys, plan.scores.mask.length) {}

  Partial forward(const QBlock& q, const KvBlock& own) override {
    if (comm_.size() == 1) return rounded(kernel_.forward(q, own), own.shape.dtype);
    heads_.clear();
    Partial home;
    Pending arrival = bring(q, own), leaving;
    for (int64_t group = 0; group < groups_; ++group) {
      arrival.wait();
      if (group + 1 < groups_) arrival = bring(q, own);
      Heads& heads = heads_[group];
      attend(heads, own.shape.dtype);
      if (group == 0) home = shards_like(heads, q);
      leaving.wait();
      leaving = exchange_.to_shards({{home.out, heads.o, queries_},
                                     {home.lse, heads.lse, queries_, MemoryTag::kOther, kNoKeys}},
                                    group, "o to its ranks");
    }
    leaving.wait();
    return home;
  }

  Gradients backward(const QBlock& q, const KvBlock& own, const Saved& saved) override {
    if (comm_.size() == 1) return finished(kernel_.backward(q, own, saved), q, own);
    at::Tensor dq;
    PackedKv home;
    OfO coming = bring(saved, 0);
    Pending leaving;
    for (int64_t group = 0; group < groups_; ++group) {
      coming.arrival.wait();
      OfO of_o = std::exchange(coming, {});
      if (group + 1 < groups_) coming = bring(saved, group + 1);
      const Heads& heads = heads_[group];
      const Gradients whole = finished(by_heads(heads, of_o), heads.q, heads.kv);
      if (group == 0) {
        home = {comm_.buffer(own.shape.elements(), own.shape.dtype, MemoryTag::kTraveller), own.shape};
        dq = at::empty(q.q.sizes(), q.q.options());
      }
      leaving.wait();
      leaving = exchange_.to_shards({{dq, whole.dq, queries_},
                                     {home.k(), whole.dk, keys_, MemoryTag::kTraveller},
                                     {home.v(), whole.dv, keys_, MemoryTag::kTraveller}},
                                    group, "gradients to their ranks");
    }
    leaving.wait();
    return {dq, home.k(), home.v()};
  }

 private:
  // Some heads of this rank, over the sequence.
  struct Heads {
    QBlock q;
    KvBlock kv;
    at::Tensor o, lse;
  };
  // The gradient of O of some heads, over the sequence.
  struct OfO {
    at::Tensor d_o;
    Pending arrival;
  };

  static Partial rounded(Partial part, at::ScalarType dtype) {
    part.out = part.out.to(dtype);
    return part;
  }

  // Each dropped as soon as it is done. Contiguous where they are sent from.
  Gradients finished(Gradients whole, const QBlock& q, const KvBlock& kv) const {
    whole.dq = finished_(whole.dq, q.positions, kv.shape.dtype);
    whole.dq = ready_to_go(whole.dq);
    whole.dk = finished_(whole.dk, kv.positions, kv.shape.dtype);
    whole.dk = ready_to_go(whole.dk);
    whole.dv = whole.dv.to(kv.shape.dtype);
    whole.dv = ready_to_go(whole.dv);
    return whole;
  }
  at::Tensor ready_to_go(const at::Tensor& x) const { return comm_.size() == 1 ? x : x.contiguous(); }

  // [batch, heads, slots, ...] to [batch, heads / (P G), length, ...], without a value
  at::Tensor sequence_of(const at::Tensor& shard, const SequenceOrder& order) const {
    auto sizes = shard.sizes().vec();
    sizes[1] /= comm_.size() * groups_;
    sizes[2] = order.length();
    return at::empty(sizes, shard.options());
  }

  // The next group.
  Pending bring(const QBlock& q, const KvBlock& own) {
    const auto group = static_cast<int64_t>(heads_.size());
    KvBlock kv;
    kv.shape = own.shape;
    kv.shape.heads /= comm_.size() * groups_;
    kv.shape.slots = keys_.length();
    kv.packed = comm_.buffer(kv.shape.elements(), kv.shape.dtype, MemoryTag::kKv);
    kv.positions = keys_.positions();
    kv.heads = {(comm_.rank() * groups_ + group) * kv.shape.heads, kv.shape.heads};
    const at::Tensor queries = sequence_of(q.q, queries_);
    heads_.push_back({{queries, queries_.positions()}, kv, {}, {}});
    return exchange_.to_sequences({{q.q, queries, queries_},
                                   {own.k(), kv.k(), keys_, MemoryTag::kKv},
                                   {own.v(), kv.v(), keys_, MemoryTag::kKv}},
                                  group, "q, k and v by heads");
  }

  void attend(Heads& heads, at::ScalarType dtype) {
    const Partial part = rounded(kernel_.forward(heads.q, heads.kv), dtype);
    heads.o = alone_in_memory(part.out);
    heads.lse = alone_in_memory(part.lse);
  }

  // O and LSE of this rank's queries, all heads, without a value.
  static Partial shards_like(const Heads& heads, const QBlock& q) {
    auto rows = q.q.sizes().vec();
    rows.back() = heads.o.size(3);
    return {at::empty(rows, heads.o.options()),
            at::empty(q.q.sizes().slice(0, 3), heads.lse.options())};
  }

  OfO bring(const Saved& saved, int64_t group) {
    OfO of_o{sequence_of(saved.d_o, queries_), {}};
    of_o.arrival = exchange_.to_sequences({{saved.d_o, of_o.d_o, queries_}}, group, "gradient of o by heads");
    return of_o;
  }

  // `taken` is gone before its memory is needed for what follows.
  Gradients by_heads(const Heads& heads, OfO& taken) {
    const OfO of_o = std::exchange(taken, {});
    return kernel_.backward(heads.q, heads.kv, {heads.o, heads.lse, {}, of_o.d_o});
  }

  Communicator& comm_;
  RecordedKernel kernel_;
  decltype(Plan::finished) finished_;
  int64_t groups_;
  HeadExchange exchange_;
  SequenceOrder queries_, keys_;
  std::vector<Heads> heads_;  // of each group
};

// "" is one group, as in the paper.
int64_t groups_of(std::string_view arguments) {
  return parse_groups("ulysses", arguments).value_or(1);
}

std::string canonical(std::string_view arguments) {
  const int64_t groups = groups_of(arguments);
  return groups == 1 ? "" : "[" + std::to_string(groups) + "]";
}

// The largest world of at most this one that the heads can be dealt to.
int largest_world(int world, const BlockShape& shape) {
  while (shape.q_heads % world != 0 || shape.kv_heads % world != 0) --world;
  return world;
}

std::optional<std::string> refuses(const Plan& plan, const BlockShape& shape) {
  const int world = plan.layout.world(), fits = largest_world(world, shape);
  if (fits != world)
    return "strategy ulysses deals whole heads to the ranks: heads " +
           std::to_string(shape.q_heads) + " and kv-heads " + std::to_string(shape.kv_heads) +
           " are no multiples of world " + std::to_string(world) + "; use world " +
           std::to_string(fits) + ", or a ring";
  if (const int64_t groups = groups_of(plan.arguments), own = shape.kv_heads / world; own % groups != 0)
    return "strategy ulysses" + plan.arguments + ": the " + std::to_string(own) +
           " kv-heads of a rank do not go into " + std::to_string(groups) + " groups; use ulysses" +
           canonical("[" + std::to_string(std::gcd(own, groups)) + "]");
  if (world == 1) return std::nullopt;
  const int64_t length = plan.scores.mask.length;
  if (!SequenceOrder::whole(plan.layout.queries, length) ||
      !SequenceOrder::whole(plan.layout.keys, length))
    return "strategy ulysses puts shards in the order of the sequence: these do not hold each of its " +
           std::to_string(length) + " positions once; use a ring";
  return std::nullopt;
}

// One rank attends its shard as it is.
std::vector<BlockShape> blocks(const Plan& plan, const BlockShape& shape) {
  if (plan.layout.world() == 1) return pairs_of_shards(plan, shape);
  BlockShape block = shape;
  const Positions sequence{{0, plan.scores.mask.length}};
  block.visibility = {plan.scores.mask, sequence, sequence};
  const int64_t shares = plan.layout.world() * groups_of(plan.arguments);
  block.q_heads /= shares;
  block.kv_heads /= shares;
  return {block};
}

const Strategies::Add registered{
    "ulysses",
    {.says = "DeepSpeed-Ulysses: heads by all-to-all, each attended by one rank over the whole sequence",
     .canonical = canonical,
     .values = [] { return std::vector<std::string>{"", "[2]"}; },
     .make = [](Communicator& comm, const Plan& plan) -> std::unique_ptr<Strategy> {
       return std::make_unique<Ulysses>(comm, plan, groups_of(plan.arguments));
     },
     .refuses = refuses,
     .partials = [](int) { return 1; },
     .same_bits = [](std::string_view) { return std::vector<std::string>(); },
     .representative = [](std::string_view arguments) { return std::string(arguments); },
     .blocks = blocks,
     .heads_unit = [](std::string_view arguments, int world) { return world * groups_of(arguments); },
     .finishes_gradients = true}};

}  // namespace
}  // namespace ringcheck
