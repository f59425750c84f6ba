// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/plan/work.h"

#include <algorithm>

namespace ringcheck::cli {
namespace {

constexpr double kWide = 4;              // bytes of a sum
constexpr double kAdded = 3 * kWide;     // an element of a sum: read twice, written once
constexpr double kMoved = 2;             // a copy is read and written

// Of one rank of P.
struct Shard {
  Shard(const Attention& layer, int64_t ranks)
      : ranks(static_cast<double>(ranks)), others(this->ranks - 1),
        queries(static_cast<double>(layer.q_heads * layer.seq) / this->ranks),
        keys(static_cast<double>(layer.kv_heads * layer.seq) / this->ranks),
        dim(static_cast<double>(layer.dim)), dim_v(static_cast<double>(layer.dim_v)),
        element(layer.element), forward(layer.forward_flops() / this->ranks),
        backward(layer.backward_flops() / this->ranks) {}

  double ranks, others, queries, keys, dim, dim_v, element;
  double forward, backward;  // FLOPs
  double kv() const { return keys * (dim + dim_v) * element; }
  double gradients() const { return keys * (dim + dim_v) * kWide; }
  double merged() const { return queries * dim_v * kAdded; }
  double summed() const { return (queries * dim + keys * (dim + dim_v)) * kAdded; }
};

std::optional<std::string> never(const Attention&, int64_t) { return std::nullopt; }

// One rank has everything.
Work alone(const Shard& n, Peers peers) {
  return {{{1, n.forward, 0, 0}}, {{1, n.backward, 0, 0}}, peers, 0, 0, 0};
}

double partial_results(const Shard& n) {
  return 2 * kWide * n.queries * std::max(n.dim, n.dim_v);
}

// Ring attention (Liu, Zaharia and Abbeel 2023): while a block is attended, the next one comes, and
// backward the sum of the gradients of the one before leaves. The last one goes home alone.
Work ring(const Attention& layer, int64_t ranks) {
  const Shard n(layer, ranks);
  if (ranks == 1) return alone(n, Peers::kNeighbour);
  const double forward = n.forward / n.ranks, backward = n.backward / n.ranks;
  Work work{{}, {}, Peers::kNeighbour, 2 * n.kv(), 2 * n.gradients(), partial_results(n)};
  work.forward = {{1, forward, 0, n.kv()},
                  {n.others - 1, forward, n.merged(), n.kv()},
                  {1, forward, n.merged(), 0}};
  work.backward = {{1, backward, 0, n.kv()},
                   {n.others - 1, backward, n.summed(), n.kv() + n.gradients()},
                   {1, backward, n.summed(), n.gradients()},
                   {1, 0, 0, n.gradients()}};
  return work;
}

// The same blocks after one all-gather; gradients go straight to their owners, each while the next
// block is attended.
Work ring_after_all_gather(const Attention& layer, int64_t ranks) {
  const Shard n(layer, ranks);
  if (ranks == 1) return alone(n, Peers::kEverybody);
  const double forward = n.forward / n.ranks, backward = n.backward / n.ranks;
  Work work{{}, {}, Peers::kEverybody, (n.ranks + 1) * n.kv(), 3 * n.gradients(), partial_results(n)};
  work.forward = {{1, 0, 0, n.others * n.kv()}, {1, forward, 0, 0}, {n.others, forward, n.merged(), 0}};
  work.backward = {{1, 0, 0, n.others * n.kv()},
                   {1, backward, 0, 0},
                   {1, backward, n.summed(), 0},
                   {n.others - 1, backward, n.summed(), n.gradients()},
                   {1, 0, 0, n.gradients()}};
  return work;
}

std::optional<std::string> too_few_heads(const Attention& layer, int64_t ranks, int64_t groups) {
  const int64_t shares = ranks == 1 ? 1 : ranks * groups;
  if (layer.kv_heads % shares == 0) return std::nullopt;
  return "needs key-value heads for every " + std::string(groups == 1 ? "rank" : "group of every rank") + ": " +
         std::to_string(layer.kv_heads) + " do not divide by " + std::to_string(shares);
}

// DeepSpeed-Ulysses (Jacobs et al. 2023): one in P heads of q, k and v over the whole sequence, then O
// and LSE back; backward dO, then dq, dk and dv, each from its place to its place (NCCL packs it). In groups
// of heads the next one comes while one is attended, and what came of the one before leaves.
Stages by_groups(double groups, double flops, double in, double out) {
  Stages pass{{1, 0, 0, in / groups}};
  const auto attended = [&](double times, double sent) {
    if (times > 0) pass.push_back({times, flops / groups, 0, sent / groups});
  };
  attended(groups > 1 ? 1 : 0, in);
  attended(groups - 2, in + out);
  attended(1, groups > 1 ? out : 0);
  pass.push_back({1, 0, 0, out / groups});
  return pass;
}

Work ulysses(const Attention& layer, int64_t ranks, int64_t groups) {
  const Shard n(layer, ranks);
  if (ranks == 1) return alone(n, Peers::kEverybody);
  const double share = n.others / n.ranks, g = static_cast<double>(groups);
  const double in = share * (n.queries * n.dim * n.element + n.kv());
  const double out = share * n.queries * (n.dim_v * n.element + kWide);
  Work work{{}, {}, Peers::kEverybody, n.kv(), n.kv(), 0};
  work.forward = by_groups(g, n.forward, in, out);
  work.backward = by_groups(g, n.backward, share * n.queries * n.dim_v * n.element, in);
  return work;
}

PlannedStrategy ulysses_in(int64_t groups) {
  return {[groups](const Attention& layer, int64_t ranks) { return too_few_heads(layer, ranks, groups); },
          [groups](const Attention& layer, int64_t ranks) { return ulysses(layer, ranks, groups); }};
}

double groups_of(const Attention& layer) {
  for (const int64_t groups : {4, 3, 2})
    if (layer.kv_heads % groups == 0) return static_cast<double>(groups);
  return 1;
}

// All-gather context parallelism (Dubey et al., Llama 3, 2024, section 3.3.2), by groups of heads: while
// one is attended the next one comes, is put in order, and the terms of dK and dV of the one before
// leave, to be added by their owners.
Work gathered(const Attention& layer, int64_t ranks) {
  const Shard n(layer, ranks);
  if (ranks == 1) return alone(n, Peers::kEverybody);
  const double groups = groups_of(layer);
  const double forward = n.forward / groups, backward = n.backward / groups;
  const double kv = n.others * n.kv() / groups, home = n.others * n.gradients() / groups;
  const double ordered = kMoved * n.ranks * n.kv() / groups;
  const double summed = ordered + kMoved * n.ranks * n.gradients() / groups + home * kAdded / kWide;
  // Beside the group in order: the next one, sent and coming; or, of one group, as it came.
  const double under_way = (groups > 1 ? n.ranks + 1 : n.ranks) / groups * n.kv();
  Work work{{}, {}, Peers::kEverybody, n.ranks / groups * n.kv() + under_way,
            n.gradients() + (2 * n.ranks - 1) / groups * n.gradients(), n.queries * n.dim * kWide};
  work.forward = {{1, 0, 0, kv}, {groups - 1, forward, ordered, kv}, {1, forward, ordered, 0}};
  work.backward = {{1, 0, 0, kv}};
  if (groups > 1) work.backward.push_back({1, backward, summed, kv});
  if (groups > 2) work.backward.push_back({groups - 2, backward, summed, kv + home});
  work.backward.push_back({1, backward, summed, groups > 1 ? home : 0});
  work.backward.push_back({1, 0, 0, home});
  return work;
}

double visible_pairs(const Attention& layer) {
  const auto s = static_cast<double>(layer.seq);
  return s * (s + 1) / 2 * static_cast<double>(layer.q_heads);
}

}  // namespace

double Attention::forward_flops() const {
  return visible_pairs(*this) * 2 * static_cast<double>(dim + dim_v);
}

double Attention::backward_flops() const {
  return visible_pairs(*this) * static_cast<double>(6 * dim + 4 * dim_v);
}

double Attention::kv_bytes(int64_t ranks) const { return Shard(*this, ranks).kv(); }

double total(const Stages& pass, double Stage::*of) {
  double sum = 0;
  for (const Stage& stage : pass) sum += stage.times * stage.*of;
  return sum;
}

double calls_in(const Stages& pass) {
  double calls = 0;
  for (const Stage& stage : pass) calls += stage.flops > 0 ? stage.times : 0;
  return calls;
}

double layer_bytes(const Attention& layer, int64_t ranks, const Work& work) {
  const Shard n(layer, ranks);
  const double of_queries = n.queries * (2 * (n.dim + n.dim_v) * n.element + 2 * kWide);
  const double gradients = n.kv();
  return of_queries + gradients + work.kv + work.travellers + work.sums;
}

const std::map<std::string, PlannedStrategy>& planned_strategies() {
  static const std::map<std::string, PlannedStrategy> table{{"gathered", {never, gathered}},
                                                            {"ring:allgather", {never, ring_after_all_gather}},
                                                            {"ring:p2p", {never, ring}},
                                                            {"ulysses", ulysses_in(1)},
                                                            {"ulysses[2]", ulysses_in(2)},
                                                            {"ulysses[4]", ulysses_in(4)}};
  return table;
}

}  // namespace ringcheck::cli
