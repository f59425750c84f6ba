// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/strips_of_token.h"

#include <algorithm>

namespace ringcheck {
namespace {

bool has_two_parts(const Strip& strip) {
  const bool diagonal = strip.kind == Strip::Kind::kCausal || strip.kind == Strip::Kind::kMirrored;
  return diagonal && strip.columns > strip.rows;
}

// To each position the count of its slot, of which the changes from slot to slot are given.
void add_to(std::vector<int64_t>& of_position, const Positions& positions, const std::vector<int64_t>& changes) {
  const std::vector<int64_t> at = flatten(positions);
  int64_t count = 0;
  for (size_t slot = 0; slot < at.size(); ++slot) {
    count += changes[slot];
    if (at[slot] < std::ssize(of_position)) of_position[at[slot]] += count;
  }
}

}  // namespace

void StripsOfToken::add(const Visibility& block) {
  std::vector<int64_t> keys(block.keys().count() + 1), queries(block.queries().count() + 1);
  const auto count = [](std::vector<int64_t>& changes, int64_t begin, int64_t size, int64_t parts) {
    changes[begin] += parts;
    changes[begin + size] -= parts;
  };
  // Not block.strips(), which are kept.
  for (const Strip& strip : strips_of(visible_slots(block.mask(), block.queries(), block.keys()))) {
    count(keys, strip.column, strip.columns, 1);
    count(queries, strip.row, strip.rows, has_two_parts(strip) ? 2 : 1);
  }
  add_to(as_key_, block.keys(), keys);
  add_to(as_query_, block.queries(), queries);
}

int64_t StripsOfToken::most_as_key() const { return as_key_.empty() ? 0 : std::ranges::max(as_key_); }
int64_t StripsOfToken::most_as_query() const { return as_query_.empty() ? 0 : std::ranges::max(as_query_); }

}  // namespace ringcheck
