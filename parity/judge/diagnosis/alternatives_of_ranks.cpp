// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/diagnosis/alternatives_of_ranks.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>

namespace ringcheck::parity {
namespace {

void add_ranks(const Asked& asked, AlternativeList& list) {
  const int64_t ranks = asked.ranks();
  if (ranks == 1) return;
  const Seen right = list.seen();
  const auto same = [&asked](int64_t q, int64_t k) { return asked.owner[q] == asked.owner[k]; };
  list.pairs("every rank attended to its own keys alone", [=](int64_t q, int64_t k) { return same(q, k) && right(q, k); });
  list.pairs("every rank attended to the keys of others alone", [=](int64_t q, int64_t k) { return !same(q, k) && right(q, k); });
  list.pairs("the mask held for own keys alone, and all others were seen", [=](int64_t q, int64_t k) { return !same(q, k) || right(q, k); });
  if (ranks > kMostRanks) return;
  for (int64_t rank = 0; rank < ranks; ++rank)
    list.pairs(c10::str("the keys of rank ", rank, " were missing"),
               [=, &asked](int64_t q, int64_t k) { return asked.owner[k] != rank && right(q, k); });
  for (int64_t step = 1; step < ranks && ranks > 2; ++step)  // of two ranks it is that they attend to their own
    list.pairs(c10::str("the block of step ", step, " of a ring were missing"), [=, &asked](int64_t q, int64_t k) {
      return (asked.owner[q] - asked.owner[k] + ranks) % ranks != step && right(q, k);
    });
}

using Slots = std::vector<std::vector<int64_t>>;

// The position of a slot of a rank; -1 where it has no such slot.
int64_t position_of(const Slots& slots, int64_t rank, int64_t slot) {
  return slot < static_cast<int64_t>(slots[rank].size()) ? slots[rank][slot] : -1;
}

// Shards that are taken for those of another balancer, or are joined as if they were.
void add_balancers(const Asked& asked, AlternativeList& list) {
  for (const std::string balance : {"contiguous", "headtail", "striped"}) {
    Case other = asked.test;
    other.balance = balance;
    Slots slots;
    for (const Positions& shard : layout_of(other).queries) slots.push_back(flatten(shard));
    if (slots == asked.slots) continue;
    const AlternativeList::Moved there = [&asked, slots](int64_t p) { return position_of(slots, asked.owner[p], asked.slot[p]); };
    std::vector<int64_t> from(asked.tokens(), -1);
    for (int64_t p = 0; p < asked.tokens(); ++p)
      if (const int64_t moved = there(p); moved >= 0 && moved < asked.tokens()) from[moved] = p;
    const AlternativeList::Moved back = [from](int64_t p) { return from[p]; };
    list.positions("shards were " + balance, there);
    list.positions("shards were cut " + balance + ", and taken for " + asked.test.balance, back);
    list.rows("shards were cut " + balance + ", and put together as " + asked.test.balance, there);
    list.rows("shards were put together " + balance, back);
  }
}

// All-gathered shards as they lie in memory.
void add_gathered(const Asked& asked, AlternativeList& list) {
  std::vector<int64_t> order;  // positions of tokens, by rank and slot
  int64_t slots = 0;
  for (const std::vector<int64_t>& shard : asked.slots)
    for (const int64_t position : shard) {
      ++slots;
      if (position < asked.tokens()) order.push_back(position);
    }
  if (!std::ranges::is_sorted(order))
    list.add("values were taken in the order in which ranks hold them, and keys were not", [order](Attending& how) {
      how.v = how.v.index_select(1, at::tensor(order, at::kLong));
      how.own_keys = false;
    });
  if (slots > asked.tokens())
    list.add("pad slots of ranks were attended, as keys and values of zeros", [=, tokens = asked.tokens()](Attending& how) { how.zero_keys = slots - tokens; });
}

void add_positions(const Asked& asked, AlternativeList& list) {
  const int64_t ranks = asked.ranks();
  if (ranks == 1) return;
  list.positions("positions were counted within the shards", [&asked](int64_t p) { return asked.slot[p]; });
  add_balancers(asked, list);
  add_gathered(asked, list);
  const Seen right = list.seen();
  list.pairs("a ring went round the other way: each block were taken for that of the opposite neighbour",
             [=, &asked](int64_t q, int64_t k) {
               const int64_t taken = ((2 * asked.owner[q] - asked.owner[k]) % ranks + ranks) % ranks;
               return right(q, position_of(asked.slots, taken, asked.slot[k]));
             });
  if (ranks > kMostRanks) return;
  for (int64_t step = 1; step < ranks; ++step) {
    const AlternativeList::Moved further = [=, &asked](int64_t p) { return position_of(asked.slots, (asked.owner[p] + step) % ranks, asked.slot[p]); };
    const std::string places = c10::str(step, step == 1 ? " place" : " places", " further on");
    list.pairs("each block of keys were taken for that of the rank " + places,
               [=](int64_t q, int64_t k) { return right(q, further(k)); });
    list.rows("each rank returned what the rank " + places + " should", further);
  }
}

}  // namespace

void add_alternatives_of_ranks(const Asked& asked, AlternativeList& list) {
  add_ranks(asked, list);
  add_positions(asked, list);
}

}  // namespace ringcheck::parity
