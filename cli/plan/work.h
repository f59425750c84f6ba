// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

// What a rank does in a layer of causal attention whose sequence is sharded head-tail over P ranks,
// evenly: the closed forms of docs/counters.md, in the order in which a strategy does it.
namespace ringcheck::cli {

// Of one layer, and one sequence; query heads are a multiple of key-value heads.
struct Attention {
  int64_t seq, q_heads, kv_heads, dim, dim_v;
  double element = 2;  // bytes; sums have 4

  double forward_flops() const;   // of all ranks: 2 (D + Dv) a pair
  double backward_flops() const;  // 6 D + 4 Dv
  double kv_bytes(int64_t ranks) const;  // K and V of a rank
};

// What is sent travels while the kernel runs; a stage without a kernel waits for it.
struct Stage {
  double times = 1;
  double flops = 0;
  double beside = 0;  // bytes that are read and written beside the kernel: merges, sums, copies
  double sent = 0;    // bytes, and received
};
using Stages = std::vector<Stage>;
double total(const Stages& pass, double Stage::*of);  // total(pass, &Stage::sent): bytes sent in it
double calls_in(const Stages& pass);                  // of a kernel

enum class Peers { kNeighbour, kEverybody };

struct Work {
  Stages forward, backward;
  Peers peers;
  // Bytes held at a time, at most: of K and V beside the own ones, of the gradients of K and V on their way,
  // and of partial results and sums, in float32.
  double kv, travellers, sums;
};

// Bytes of a rank while it is at work, beside its K and V, which are among those of all layers: its shards of q, O, dO, dq, dk and
// dv, LSE and D, and what its strategy holds. What a kernel allocates comes on top.
double layer_bytes(const Attention& layer, int64_t ranks, const Work& work);

struct PlannedStrategy {
  // Why so many ranks cannot, or nothing.
  std::function<std::optional<std::string>(const Attention& layer, int64_t ranks)> refuses;
  std::function<Work(const Attention& layer, int64_t ranks)> work;
};
const std::map<std::string, PlannedStrategy>& planned_strategies();

}  // namespace ringcheck::cli
