// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/strips.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace ringcheck {
namespace {

// Which kind goes on from one query to the next, if any.
std::optional<Strip::Kind> step(const SlotRange& from, const SlotRange& to) {
  const int64_t begin = to.begin - from.begin, end = to.end - from.end;
  if (begin == 0 && end == 0) return Strip::Kind::kFull;
  if (begin == 0 && end == 1) return Strip::Kind::kCausal;
  if (begin == 1 && end == 0) return Strip::Kind::kMirrored;
  if (begin == 1 && end == 1) return Strip::Kind::kBand;
  return std::nullopt;
}

}  // namespace

std::vector<SlotRange> visible_slots(const Mask& mask, const Positions& queries,
                                     const Positions& keys) {
  if (!keys.ascending())
    throw std::invalid_argument("a shard must hold its positions in ascending order");
  const std::vector<int64_t> held = flatten(keys);
  const auto slot_of = [&](int64_t position) {
    return std::lower_bound(held.begin(), held.end(), position) - held.begin();
  };
  std::vector<SlotRange> ranges;
  ranges.reserve(queries.count());
  for (const int64_t q : flatten(queries)) {
    const Interval seen = visible_keys(mask, q);
    const SlotRange range{slot_of(seen.begin), slot_of(seen.end)};
    ranges.push_back(range.size() > 0 ? range : SlotRange{});
  }
  return ranges;
}

std::vector<Strip> strips_of(const std::vector<SlotRange>& seen) {
  const auto count = static_cast<int64_t>(seen.size());
  std::vector<Strip> list;
  for (int64_t row = 0, next; row < count; row = next) {
    next = row + 1;
    if (seen[row].size() == 0) continue;
    const auto goes_on = [&] {
      return next < count && seen[next].size() > 0 ? step(seen[next - 1], seen[next])
                                                   : std::nullopt;
    };
    const auto kind = goes_on();
    while (kind && goes_on() == kind) ++next;
    list.push_back({kind.value_or(Strip::Kind::kFull), row, next - row, seen[row].begin,
                    seen[next - 1].end - seen[row].begin,
                    kind == Strip::Kind::kBand ? seen[row].size() : 0});
  }
  return list;
}

}  // namespace ringcheck
