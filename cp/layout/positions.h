// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "reference/mask.h"

namespace ringcheck {

// An arithmetic run of global positions: begin, begin + stride, ...
struct Span {
  int64_t begin = 0;
  int64_t count = 0;
  int64_t stride = 1;
  bool operator==(const Span&) const = default;
};

// The global positions of the slots of one shard, in the order in which it holds them. A position
// at or beyond the length of the sequence is a pad slot. Never changes, so copies share it: blocks
// and records carry their positions about for nothing.
class Positions {
 public:
  Positions() = default;
  Positions(std::vector<Span> spans);
  Positions(std::initializer_list<Span> spans) : Positions(std::vector<Span>(spans)) {}

  const std::vector<Span>& spans() const;
  int64_t count() const { return facts_ ? facts_->count : 0; }
  bool ascending() const { return !facts_ || facts_->ascending; }

  auto begin() const { return spans().begin(); }
  auto end() const { return spans().end(); }
  size_t size() const { return spans().size(); }
  const Span& at(size_t i) const { return spans().at(i); }
  const Span& operator[](size_t i) const { return spans()[i]; }
  const Span& back() const { return spans().back(); }

  bool operator==(const Positions& other) const {
    return facts_ == other.facts_ || spans() == other.spans();
  }

 private:
  struct Facts {
    std::vector<Span> spans;
    int64_t count = 0;
    bool ascending = true;
  };
  std::shared_ptr<const Facts> facts_;  // none: no positions
};

int64_t count(const Positions& positions);
std::vector<int64_t> flatten(const Positions& positions);

// The key-value heads [begin, begin + count) of the model that a block holds.
struct HeadRange {
  int64_t begin = 0, count = 0;
};

// Every mask lets a query see one interval of keys [begin, end) in global positions.
struct Interval {
  int64_t begin = 0, end = 0;
};
Interval visible_keys(const Mask& mask, int64_t query);

// Number of (query, key) pairs of the two position sets that the mask lets attend.
int64_t visible_pairs(const Mask& mask, const Positions& queries, const Positions& keys);

}  // namespace ringcheck
