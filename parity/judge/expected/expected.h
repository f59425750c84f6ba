// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cp/registry.h"
#include "parity/case/case.h"

// What must have happened on each rank, from closed forms that share nothing with cp
// (docs/counters.md): one file for each strategy, rotation and balancer, written from the papers,
// which no subject can include. Only limits ask cp: those of the peaks for the plan and for what the
// kernel says that it allocates, that of the work for the tiles by which it computes.
namespace ringcheck::parity {

// Of one pass of one rank.
struct ExpectedPass {
  int64_t bytes = 0;     // sent, and received
  int64_t messages = 0;  // sent
  int64_t pairs = 0;     // visible (query, key) pairs times batch times query heads
  int64_t flops = 0;
  int64_t steps = 0;
  int64_t merges = 0;
  int64_t overlapped = 0;  // steps during which a message to the rank is under way
};
// A block that a rank attends: queries and keys of the shards of these ranks, or of the whole
// sequence, and of one in so many heads.
struct ExpectedBlock {
  static constexpr int kSequence = -1;  // every position, in order, without pads at its end
  int queries = 0, keys = 0;
  int64_t parts = 1;
};
// It, and what its strategy then holds of blocks, partial results and sums.
struct ExpectedStep {
  struct Held {
    int64_t attending = 0;  // while the kernel is called
    int64_t combining = 0;  // at most from there to the next call, what the kernel returned included
    int64_t preparing = attending;  // at most before the first block is attended
  };
  ExpectedBlock block;
  Held forward, backward;
};
// What a strategy returns.
struct ExpectedResult {
  bool rounded_o = false;           // in the dtype: nothing is left to round
  bool finished_gradients = false;  // rotated back, and in the dtype
  bool one_gradient_block = false;  // dK and dV are one, in the accumulation type
};
struct ExpectedCounters {
  ExpectedPass forward, backward;
  HeadRange heads;  // the key-value heads that the rank attends, each as many pairs
  int64_t kv_bytes = 0, traveller_bytes = 0;    // most held at a time, exact
  // Held beyond what was held before the passes: exact, but for the peaks, which are upper bounds. A
  // strategy says what it holds after the passes, and its steps in the order in which it takes them.
  Stock forward_stock, backward_stock;
  std::vector<ExpectedStep> steps;
  ExpectedResult result = {};
  bool one_d = false;  // D is made once for all blocks, if the kernel takes it, and not by each call
  int64_t peak_bytes = 0;                       // of everything: an upper bound
  int64_t rounding = 0;  // what the allocator may add to all that is held at a time: an upper bound
  std::vector<int64_t> sent_to, received_from;  // by rank, both passes
  // The most pairs that a kernel computes in a pass, where it says by which tiles.
  std::optional<int64_t> most_computed = std::nullopt;
};

// Of every rank. Throws BadCase where the strategy of the case has no closed form.
std::vector<ExpectedCounters> expected_counters(const Case& test);

// A strategy: everything but the peaks, the work and what lies around a strategy, which follow.
struct ExpectedStrategy {
  std::function<ExpectedCounters(const Case& test, int rank)> counters;
};
using ExpectedStrategies = Registry<ExpectedStrategy>;

// A rotation: what it moves and holds, in blocks of K and V (kv) and of their gradients.
struct ExpectedRotation {
  struct Moves {
    int64_t kv = 0, gradients = 0;  // blocks sent by a rank
    int64_t overlapped = 0;         // of its steps, those during which one comes
  };
  std::function<Moves(int world)> forward;
  std::function<Moves(int world, bool keep)> backward;
  // Blocks held: of K and V when the first is prepared, and from its step on; of gradients when so many terms of
  // them are there.
  std::function<int64_t(int world)> kv_prepared, kv_held;
  std::function<int64_t(int world, int terms)> gradients_held;
  // The share of its bytes that a rank sends to, and receives from, each other one.
  std::function<std::vector<double>(int world, int rank)> to, from;
  int64_t messages_a_block = 1;
};
using ExpectedRotations = Registry<ExpectedRotation>;

// A balancer: of which number the padded length is a multiple, and who holds a position.
struct ExpectedBalancer {
  std::function<int64_t(const Case& test)> granule;
  std::function<int64_t(const Case& test, int64_t padded, int64_t position)> owner;
};
using ExpectedBalancers = Registry<ExpectedBalancer>;

// Slots of a rank, the pads that fill up the last granule included.
int64_t slots_of_rank(const Case& test);

// The rank that holds a position.
int owner_of(const Case& test, int64_t position);

// How many keys a query of a batch entry at this position sees: these, from the position of the first
// one on.
int64_t keys_seen(const Case& test, int64_t entry, int64_t position);
int64_t first_key_seen(const Case& test, int64_t position);

// The positions of the slots of every rank, ascending; pads included.
std::vector<std::vector<int64_t>> slots_of_ranks(const Case& test);

// Slots of a rank that hold no token: of a batch, or of each of its entries where their lengths differ.
int64_t pads_of_rank(const Case& test, int rank);

// Visible (query, key) pairs of the tokens of a rank, or of all, over batch and query heads.
int64_t pairs_of(const Case& test, int rank);
int64_t pairs_of(const Case& test);

// Of each batch entry, added up.
int64_t sum_of_entries(const Case& test, const std::function<int64_t(int64_t entry)>& of);

// Of a pass in which a rank attends these, by key-value head.
std::vector<int64_t> pairs_by_head(const Case& test, const HeadRange& heads, int64_t pairs);

// Bytes of an element of the accumulation type.
int64_t wide_bytes(const Case& test);

// Bytes of the own K and V of a rank: none, if they are as they came.
int64_t own_kv_bytes(const Case& test, int rank);

// D of so many vectors, of a kernel that takes it.
int64_t d_bytes(const Case& test, int64_t vectors);

// One rank has everything: nothing travels, and what the kernel returns is what the strategy returns.
void alone(const Case& test, ExpectedCounters& expected);

// Bytes of a block of K and V, or of their gradients, of one rank.
int64_t kv_block_bytes(const Case& test);
int64_t gradient_block_bytes(const Case& test);

// Bytes of a partial result, and of the gradients of its queries, of one rank.
int64_t partial_bytes(const Case& test);
int64_t query_gradient_bytes(const Case& test);

// What it takes to rotate back, and round, a gradient of q or k of so many vectors in so many slots,
// and what that leaves beside it.
struct Finishing {
  int64_t takes = 0, leaves = 0;
};
Finishing finishing(const Case& test, int64_t vectors, int64_t slots);

// What merging two partial results takes beside them.
int64_t merge_bytes(const Case& test);

// Adds to what a strategy holds what lies around every strategy: what a forward pass leaves for the
// backward pass, and what that returns.
void add_frame(const Case& test, int rank, ExpectedCounters& expected);

// Adds the peaks: of every stage of a pass, and of all that a rank does.
void add_peaks(const Case& test, int rank, ExpectedCounters& expected);

// The most pairs of the blocks of a rank, times batch and query heads, in tiles of this size: of each
// tile in which some query sees some key the slots from the first that is seen to the last, to whole
// tiles.
int64_t pairs_in_tiles(const Case& test, const std::vector<ExpectedStep>& steps,
                       const TileSize& tile);

}  // namespace ringcheck::parity
