// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/positions.h"

#include <algorithm>
#include <numeric>

namespace ringcheck {
namespace {

// A law holds this to `visible`.
struct KeysOf {
  int64_t q, length;
  Interval operator()(const Full&) const { return {0, length}; }
  Interval operator()(const Causal&) const { return {0, q + 1}; }
  Interval operator()(const Window& m) const { return {std::max<int64_t>(0, q - m.width + 1), q + 1}; }
  Interval operator()(const Prefix& m) const { return {0, std::max(q + 1, m.length)}; }
  Interval operator()(const DocumentCausal& m) const {
    const int64_t begin = q - place(m.documents, q).token;
    return {begin, q + 1};
  }
  Interval operator()(const DocumentFull& m) const {
    const Place at = place(m.documents, q);
    const int64_t begin = q - at.token;
    return {begin, begin + m.documents[at.document].length};
  }
};

// How many elements of the run lie in [begin, end).
int64_t overlap(const Run& run, const Interval& keys) {
  const auto below = [&](int64_t x) {
    return std::clamp<int64_t>((x - run.begin + run.stride - 1) / run.stride, 0, run.count);
  };
  return std::max<int64_t>(0, below(std::max(keys.end, run.begin)) -
                                  below(std::max(keys.begin, run.begin)));
}

}  // namespace

Interval visible_keys(const Mask& mask, int64_t q) {
  if (!is_token(mask, q)) return {};
  Interval keys = std::visit(KeysOf{q, mask.length}, mask.kind);
  keys.end = std::min(keys.end, mask.length);
  return keys;
}

int64_t count(const Positions& positions) {
  return std::accumulate(positions.begin(), positions.end(), int64_t{0},
                         [](int64_t sum, const Run& run) { return sum + run.count; });
}

std::vector<int64_t> flatten(const Positions& positions) {
  std::vector<int64_t> all;
  all.reserve(count(positions));
  for (const Run& run : positions)
    for (int64_t i = 0; i < run.count; ++i) all.push_back(run.begin + i * run.stride);
  return all;
}

int64_t visible_pairs(const Mask& mask, const Positions& queries, const Positions& keys) {
  int64_t pairs = 0;
  for (const int64_t q : flatten(queries)) {
    const Interval seen = visible_keys(mask, q);
    for (const Run& run : keys) pairs += overlap(run, seen);
  }
  return pairs;
}

BlockMask block_mask(const Mask& mask, const std::vector<int64_t>& queries,
                     const std::vector<int64_t>& keys) {
  BlockMask block;
  block.visible.reserve(queries.size() * keys.size());
  size_t seen = 0;
  for (const int64_t q : queries) {
    const Interval interval = visible_keys(mask, q);
    for (const int64_t k : keys) {
      const bool sees = interval.begin <= k && k < interval.end;
      block.visible.push_back(sees);
      seen += sees;
    }
  }
  if (seen == 0) block.kind = BlockMask::Kind::kEmpty;
  else block.kind = seen == block.visible.size() ? BlockMask::Kind::kFull : BlockMask::Kind::kPartial;
  return block;
}

}  // namespace ringcheck
