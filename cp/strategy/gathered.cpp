// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <numeric>
#include <utility>

#include "cp/attention/group_arguments.h"
#include "cp/attention/head_groups.h"
#include "cp/attention/recorded_kernel.h"
#include "cp/attention/strategy.h"

namespace ringcheck {
namespace {

// Only what comes first is waited for, a group; and a group is to fill a GPU.
constexpr int64_t kMostGroups = 4;

// Into how many groups the key-value heads go; those that nobody asked for divide them.
using Groups = std::optional<int64_t>;
int64_t groups_of(const Groups& asked, int64_t kv_heads) {
  if (asked) return *asked;
  int64_t groups = kMostGroups;
  while (kv_heads % groups != 0) --groups;
  return groups;
}

// Of x [batch, heads, ...] those query heads that read these of `kv_heads` key-value heads, a view.
at::Tensor readers(const at::Tensor& x, const HeadRange& heads, int64_t kv_heads) {
  const int64_t each = x.size(1) / kv_heads;
  return x.narrow(1, heads.begin * each, heads.count * each);
}

// This rank's queries against the whole sequence, a group of key-value heads after the other (Llama
// 3, section 3.3.2). A query meets all its keys in one call, so nothing is merged, and O and dQ are
// complete; dK and dV are sums over the ranks.
class Gathered final : public Strategy {
 public:
  Gathered(Communicator& comm, const Plan& plan, const Groups& groups)
      : comm_(comm), kernel_(plan, comm.ledger()), keys_(plan.layout.keys, plan.scores.mask.length),
        groups_(groups) {}

  Partial forward(const QBlock& q, const KvBlock& own) override {
    if (comm_.size() == 1) return kernel_.forward(q, own);
    auto rows = q.q.sizes().vec();
    rows.back() = own.shape.dim_v;
    const Partial whole{at::empty(rows, q.q.options()),
                        at::empty(q.q.sizes().slice(0, 3), wide(q.q))};
    GatheredHeads heads(comm_, keys_, own, groups(own));
    while (const auto kv = heads.next()) {
      const auto of = [&](const at::Tensor& x) { return readers(x, kv->heads, own.shape.heads); };
      const Partial part = kernel_.forward({of(q.q).contiguous(), q.positions}, *kv);
      of(whole.out).copy_(part.out);
      of(whole.lse).copy_(part.lse);
    }
    return whole;
  }

  Gradients backward(const QBlock& q, const KvBlock& own, const Saved& saved) override {
    if (comm_.size() == 1) return kernel_.backward(q, own, saved);
    const Saved all = kernel_.with_d(saved);
    const at::Tensor dq = at::empty(q.q.sizes(), wide(q.q));
    HeadsHome home(comm_, keys_, own.shape.in(accumulation_type(own.shape.dtype)), groups(own));
    GatheredHeads heads(comm_, keys_, own, groups(own));
    while (const auto kv = heads.next()) {
      const auto of = [&](const at::Tensor& x) { return readers(x, kv->heads, own.shape.heads); };
      const auto copied = [&](const at::Tensor& x) { return of(x).contiguous(); };
      Gradients term = kernel_.backward({copied(q.q), q.positions}, *kv, all.of(copied));
      of(dq).copy_(term.dq);
      term.dq.reset();
      home.add(std::move(term.dk), std::move(term.dv));
    }
    const PackedKv sum = home.home();
    return {dq, sum.k(), sum.v()};
  }

 private:
  static at::TensorOptions wide(const at::Tensor& x) {
    return x.options().dtype(accumulation_type(x.scalar_type()));
  }
  int64_t groups(const KvBlock& own) const { return groups_of(groups_, own.shape.heads); }

  Communicator& comm_;
  RecordedKernel kernel_;
  SequenceOrder keys_;
  Groups groups_;
};

Groups parse(std::string_view text) { return parse_groups("gathered", text); }

std::string canonical(std::string_view text) {
  const Groups groups = parse(text);
  return groups ? "[" + std::to_string(*groups) + "]" : "";
}

std::optional<std::string> refuses(const Plan& plan, const BlockShape& shape) {
  if (const Groups groups = parse(plan.arguments); groups && shape.kv_heads % *groups != 0)
    return "strategy gathered" + plan.arguments + ": kv-heads " + std::to_string(shape.kv_heads) +
           " do not go into " + std::to_string(*groups) + " groups; use gathered[" +
           std::to_string(std::gcd(shape.kv_heads, *groups)) + "]";
  const int64_t length = plan.scores.mask.length;
  if (plan.layout.world() > 1 && !SequenceOrder::whole(plan.layout.keys, length))
    return "strategy gathered puts shards in the order of the sequence: these do not hold each of "
           "its " +
           std::to_string(length) + " positions once; use a ring";
  return std::nullopt;
}

// The queries of every rank against the sequence; one rank attends its shard as it is.
std::vector<BlockShape> blocks(const Plan& plan, const BlockShape& shape) {
  if (plan.layout.world() == 1) return pairs_of_shards(plan, shape);
  std::vector<BlockShape> blocks;
  for (const Positions& queries : plan.layout.queries) {
    const int64_t groups = groups_of(parse(plan.arguments), shape.kv_heads);
    BlockShape block = shape;
    block.visibility = {plan.scores.mask, queries, Positions{{0, plan.scores.mask.length}}};
    block.q_heads /= groups;
    block.kv_heads /= groups;
    blocks.push_back(block);
  }
  return blocks;
}

const Strategies::Add registered{
    "gathered",
    {.says = "K and V are gathered, some heads at a time, and attended in the order of the sequence",
     .canonical = canonical,
     .values = [] { return std::vector<std::string>{""}; },
     .make = [](Communicator& comm, const Plan& plan) -> std::unique_ptr<Strategy> {
       return std::make_unique<Gathered>(comm, plan, parse(plan.arguments));
     },
     .refuses = refuses,
     .partials = [](int world) { return world; },
     .same_bits = [](std::string_view) { return std::vector<std::string>(); },
     .representative = [](std::string_view arguments) { return std::string(arguments); },
     .blocks = blocks}};

}  // namespace
}  // namespace ringcheck
