// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/positions.h"

#include <algorithm>
#include <limits>
#include <optional>

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
int64_t overlap(const Span& run, const Interval& keys) {
  const auto below = [&](int64_t x) {
    return std::clamp<int64_t>((x - run.begin + run.stride - 1) / run.stride, 0, run.count);
  };
  return std::max<int64_t>(0, below(std::max(keys.end, run.begin)) -
                                  below(std::max(keys.begin, run.begin)));
}

// Of the run, the positions below `end`.
Span below(const Span& run, int64_t end) {
  const int64_t reached = (end - run.begin + run.stride - 1) / run.stride;
  return {run.begin, end <= run.begin ? 0 : std::min(run.count, reached), run.stride};
}

// The sum over i of [0, count) of clamp(first + i step, 0, most).
int64_t ramp(int64_t first, int64_t step, int64_t count, int64_t most) {
  const auto reach = [&](int64_t value) {  // the first i at which it is at least this
    return value <= first ? 0 : std::min(count, (value - first + step - 1) / step);
  };
  const int64_t begin = reach(0), end = reach(most), inside = end - begin;
  return inside * first + step * (inside * (begin + end - 1) / 2) + (count - end) * most;
}

// Keys of a contiguous run that the queries of a run see. Of masks without one form: nothing.
struct PairsOfRuns {
  Span queries, keys;
  int64_t before(int64_t distance) const {  // keys below q + distance
    return ramp(queries.begin + distance - keys.begin, queries.stride, queries.count, keys.count);
  }
  std::optional<int64_t> operator()(const Full&) const { return queries.count * keys.count; }
  std::optional<int64_t> operator()(const Causal&) const { return before(1); }
  std::optional<int64_t> operator()(const Window& m) const {
    return before(1) - before(1 - m.width);
  }
  template <class Other>
  std::optional<int64_t> operator()(const Other&) const {
    return std::nullopt;
  }
};

int64_t pairs_of(const Mask& mask, const Span& queries, const Span& keys) {
  if (keys.stride == 1) {
    const PairsOfRuns tokens{below(queries, mask.length), below(keys, mask.length)};
    if (const auto pairs = std::visit(tokens, mask.kind)) return *pairs;
  }
  int64_t pairs = 0;
  for (int64_t i = 0; i < queries.count; ++i)
    pairs += overlap(keys, visible_keys(mask, queries.begin + i * queries.stride));
  return pairs;
}

}  // namespace

Interval visible_keys(const Mask& mask, int64_t q) {
  if (!is_token(mask, q)) return {};
  Interval keys = std::visit(KeysOf{q, mask.length}, mask.kind);
  keys.end = std::min(keys.end, mask.length);
  return keys;
}

Positions::Positions(std::vector<Span> spans) {
  if (spans.empty()) return;
  Facts facts{std::move(spans)};
  int64_t last = std::numeric_limits<int64_t>::min();
  for (const Span& span : facts.spans) {
    facts.count += span.count;
    if (span.count == 0) continue;
    facts.ascending &= last <= span.begin && (span.count == 1 || span.stride >= 0);
    last = span.begin + (span.count - 1) * span.stride;
  }
  facts_ = std::make_shared<const Facts>(std::move(facts));
}

const std::vector<Span>& Positions::spans() const {
  static const std::vector<Span> none;
  return facts_ ? facts_->spans : none;
}

int64_t count(const Positions& positions) { return positions.count(); }

std::vector<int64_t> flatten(const Positions& positions) {
  std::vector<int64_t> all;
  all.reserve(count(positions));
  for (const Span& run : positions)
    for (int64_t i = 0; i < run.count; ++i) all.push_back(run.begin + i * run.stride);
  return all;
}

int64_t visible_pairs(const Mask& mask, const Positions& queries, const Positions& keys) {
  int64_t pairs = 0;
  for (const Span& q : queries)
    for (const Span& k : keys) pairs += pairs_of(mask, q, k);
  return pairs;
}

}  // namespace ringcheck
