// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <limits>
#include <stdexcept>

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
// travels in the dtype. What the kernel is given forward stays for the backward pass.
class Ulysses final : public Strategy {
 public:
  Ulysses(Communicator& comm, const Plan& plan)
      : comm_(comm), kernel_(plan, comm.ledger()), finished_(plan.finished), exchange_(comm),
        queries_(plan.layout.queries, plan.scores.mask.length),
        keys_(plan.layout.keys, plan.scores.mask.length) {}

  Partial forward(const QBlock& q, const KvBlock& own) override {
    if (comm_.size() == 1) return rounded(kernel_.forward(q, own), own.shape.dtype);
    bring(q, own);
    const Partial heads = rounded(kernel_.forward(q_, kv_), own.shape.dtype);
    o_ = alone_in_memory(heads.out);
    lse_ = alone_in_memory(heads.lse);
    auto rows = q.q.sizes().vec();
    rows.back() = own.shape.dim_v;
    const Partial home{at::empty(rows, o_.options()),
                       at::empty(q.q.sizes().slice(0, 3), lse_.options())};
    exchange_.to_shards({{home.out, o_, queries_},
                         {home.lse, lse_, queries_, MemoryTag::kOther, kNoKeys}},
                        {"o to its ranks", 0});
    return home;
  }

  Gradients backward(const QBlock& q, const KvBlock& own, const Saved& saved) override {
    if (comm_.size() == 1) return finished(kernel_.backward(q, own, saved), q, own);
    const Gradients heads = finished(by_heads(saved), q_, kv_);
    const PackedKv home{
        comm_.buffer(own.shape.elements(), own.shape.dtype, MemoryTag::kTraveller), own.shape};
    const at::Tensor dq = at::empty(q.q.sizes(), q.q.options());
    exchange_.to_shards({{dq, heads.dq, queries_},
                         {home.k(), heads.dk, keys_, MemoryTag::kTraveller},
                         {home.v(), heads.dv, keys_, MemoryTag::kTraveller}},
                        {"gradients to their ranks", 0});
    return {dq, home.k(), home.v()};
  }

 private:
  static Partial rounded(Partial part, at::ScalarType dtype) {
    part.out = part.out.to(dtype);
    return part;
  }

  // Each dropped as soon as it is done.
  Gradients finished(Gradients whole, const QBlock& q, const KvBlock& kv) const {
    whole.dq = finished_(whole.dq, q.positions, kv.shape.dtype);
    whole.dk = finished_(whole.dk, kv.positions, kv.shape.dtype);
    whole.dv = whole.dv.to(kv.shape.dtype);
    return whole;
  }

  // [batch, heads, slots, ...] to [batch, heads / P, length, ...], without a value
  at::Tensor sequence_of(const at::Tensor& shard, const SequenceOrder& order) const {
    auto sizes = shard.sizes().vec();
    sizes[1] /= comm_.size();
    sizes[2] = order.length();
    return at::empty(sizes, shard.options());
  }

  void bring(const QBlock& q, const KvBlock& own) {
    q_ = {sequence_of(q.q, queries_), queries_.positions()};
    kv_ = own;
    kv_.shape.heads /= comm_.size();
    kv_.shape.slots = keys_.length();
    kv_.packed = comm_.buffer(kv_.shape.elements(), kv_.shape.dtype, MemoryTag::kKv);
    kv_.positions = keys_.positions();
    kv_.heads = {comm_.rank() * kv_.shape.heads, kv_.shape.heads};
    exchange_.to_sequences({{q.q, q_.q, queries_},
                            {own.k(), kv_.k(), keys_, MemoryTag::kKv},
                            {own.v(), kv_.v(), keys_, MemoryTag::kKv}},
                           {"q, k and v by heads", 0});
  }

  Gradients by_heads(const Saved& saved) {
    const Saved whole{o_, lse_, sequence_of(saved.d, queries_), sequence_of(saved.d_o, queries_)};
    exchange_.to_sequences({{saved.d_o, whole.d_o, queries_}, {saved.d, whole.d, queries_}},
                           {"gradient of o by heads", 0});
    return kernel_.backward(q_, kv_, whole);
  }

  Communicator& comm_;
  RecordedKernel kernel_;
  decltype(Plan::finished) finished_;
  HeadExchange exchange_;
  SequenceOrder queries_, keys_;
  QBlock q_;            // of the heads of this rank, over the sequence
  KvBlock kv_;
  at::Tensor o_, lse_;
};

std::string canonical(std::string_view arguments) {
  if (!arguments.empty())
    throw std::invalid_argument("'ulysses" + std::string(arguments) +
                                "': ulysses takes no arguments; use ulysses");
  return "";
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
  BlockShape block = shape;
  const Positions sequence{{0, plan.scores.mask.length}};
  block.visibility = {plan.scores.mask, sequence, sequence};
  if (plan.layout.world() == 1)
    block.visibility = {plan.scores.mask, plan.layout.queries[0], plan.layout.keys[0]};
  block.q_heads /= plan.layout.world();
  block.kv_heads /= plan.layout.world();
  return {block};
}

const Strategies::Add registered{
    "ulysses",
    {.says = "DeepSpeed-Ulysses: heads by all-to-all, each attended by one rank over the whole sequence",
     .canonical = canonical,
     .values = [] { return std::vector<std::string>{""}; },
     .make = [](Communicator& comm, const Plan& plan) -> std::unique_ptr<Strategy> {
       return std::make_unique<Ulysses>(comm, plan);
     },
     .refuses = refuses,
     .partials = [](int) { return 1; },
     .same_bits = [](std::string_view) { return std::vector<std::string>(); },
     .representative = [](std::string_view) { return std::string(); },
     .blocks = blocks,
     .heads_unit = [](int world) { return int64_t{world}; },
     .finishes_gradients = true}};

}  // namespace
}  // namespace ringcheck
