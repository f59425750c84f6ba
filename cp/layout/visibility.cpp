// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/visibility.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>

namespace ringcheck {

struct Visibility::Known {
  Mask mask;
  Positions queries, keys;
  std::optional<int64_t> pairs = std::nullopt;
  std::optional<std::vector<SlotRange>> slots = std::nullopt;
  std::optional<std::vector<Strip>> strips = std::nullopt;
  SlotTensors tensors = {};
  std::optional<std::vector<int64_t>> query_list = std::nullopt, key_list = std::nullopt;

  template <class Value, class Make>
  static const Value& kept(std::optional<Value>& value, const Make& make) {
    if (!value) value = make();
    return *value;
  }
};

namespace {

// The slots between the first byte that is not 0 in any row and the last.
SlotRange reach(const std::vector<uint8_t>& visible, int64_t width) {
  SlotRange range{width, 0};
  for (size_t i = 0; i < visible.size(); ++i) {
    if (visible[i] == 0) continue;
    const int64_t column = static_cast<int64_t>(i) % width;
    range = {std::min(range.begin, column), std::max(range.end, column + 1)};
  }
  return range.size() > 0 ? range : SlotRange{};
}

// sees(row, slot) of the queries of a tile, in the columns that any of them sees.
template <class Sees>
Tile tile_of(int64_t row, int64_t rows, const SlotRange& columns, const Sees& sees) {
  Tile tile{columns, {}};
  tile.visible.reserve(rows * columns.size());
  for (int64_t i = row; i < row + rows; ++i)
    for (int64_t slot = columns.begin; slot < columns.end; ++slot)
      tile.visible.push_back(sees(i, slot));
  if (std::ranges::find(tile.visible, 0) == tile.visible.end()) tile.visible.clear();
  return tile;
}

}  // namespace

Visibility::Visibility(const Mask& mask, const Positions& queries, const Positions& keys)
    : known_(std::make_shared<Known>(Known{mask, queries, keys})) {}

const Mask& Visibility::mask() const { return known_->mask; }
const Positions& Visibility::queries() const { return known_->queries; }
const Positions& Visibility::keys() const { return known_->keys; }

int64_t Visibility::pairs() const {
  return Known::kept(known_->pairs, [&] {
    // Span by span there is a closed form, which shards of many short spans are too many for.
    const auto pairs_of_spans = static_cast<int64_t>(queries().size() * keys().size());
    if (!keys().ascending() || pairs_of_spans <= queries().count() + 64)
      return visible_pairs(mask(), queries(), keys());
    int64_t sum = 0;
    for (const SlotRange& seen : slots()) sum += seen.size();
    return sum;
  });
}

const std::vector<SlotRange>& Visibility::slots() const {
  return Known::kept(known_->slots, [&] { return visible_slots(mask(), queries(), keys()); });
}

const std::vector<Strip>& Visibility::strips() const {
  return Known::kept(known_->strips, [&] { return strips_of(slots()); });
}

const SlotTensors& Visibility::slots_on(at::Device device) const {
  SlotTensors& tensors = known_->tensors;
  if (tensors.begin.defined() && tensors.begin.device() == device) return tensors;
  const auto column = [&](int64_t SlotRange::*side) {
    std::vector<int32_t> values;
    for (const SlotRange& seen : slots()) values.push_back(static_cast<int32_t>(seen.*side));
    return at::tensor(values, at::kInt).to(device);
  };
  return tensors = {column(&SlotRange::begin), column(&SlotRange::end)};
}

Tile Visibility::tile(int64_t row, int64_t rows) const {
  if (rows == 0) return {};
  const int64_t width = keys().count();
  if (keys().ascending()) {
    const auto seen = slots().begin() + row;
    SlotRange columns{width, 0};
    for (auto range = seen; range != seen + rows; ++range)
      if (range->size() > 0)
        columns = {std::min(columns.begin, range->begin), std::max(columns.end, range->end)};
    if (columns.size() <= 0) return {};
    if (std::all_of(seen, seen + rows, [&](const SlotRange& range) { return range == columns; }))
      return {columns, {}};
    return tile_of(row, rows, columns, [&](int64_t i, int64_t slot) {
      return slots()[i].begin <= slot && slot < slots()[i].end;
    });
  }
  const auto& asking = Known::kept(known_->query_list, [&] { return flatten(queries()); });
  const auto& held = Known::kept(known_->key_list, [&] { return flatten(keys()); });
  const auto sees = [&](int64_t i, int64_t slot) {
    const Interval interval = visible_keys(mask(), asking[i]);
    return interval.begin <= held[slot] && held[slot] < interval.end;
  };
  const Tile whole = tile_of(row, rows, {0, width}, sees);
  if (whole.visible.empty()) return whole;
  return tile_of(row, rows, reach(whole.visible, width), sees);
}

const Visibility& Visibilities::of(const Positions& queries, const Positions& keys) {
  for (const auto& made : made_)
    if (made->keys() == keys && made->queries() == queries) return *made;
  made_.push_back(std::make_unique<Visibility>(mask_, queries, keys));
  return *made_.back();
}

}  // namespace ringcheck
