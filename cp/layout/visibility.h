// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "cp/layout/strips.h"

namespace ringcheck {

// Key slots that some queries have to do with, and which of them each one sees, row-major; empty
// where each sees all.
struct Tile {
  SlotRange columns;
  std::vector<uint8_t> visible;
};

// Which keys each query sees: slots [begin, end), int32.
struct SlotTensors {
  at::Tensor begin, end;
};

// What a mask shows of a block of scores, queries against keys. Every form of it is computed when
// it is first asked for, and kept; copies share it. For one thread at a time.
class Visibility {
 public:
  Visibility() : Visibility({}, {}, {}) {}
  Visibility(const Mask& mask, const Positions& queries, const Positions& keys);

  const Mask& mask() const;
  const Positions& queries() const;
  const Positions& keys() const;

  int64_t pairs() const;  // visible ones
  bool empty() const { return pairs() == 0; }
  bool full() const { return !empty() && pairs() == queries().count() * keys().count(); }

  // The key slots that each query sees, and the strips of them. Throw std::invalid_argument where
  // the keys do not ascend.
  const std::vector<SlotRange>& slots() const;
  const std::vector<Strip>& strips() const;
  const SlotTensors& slots_on(at::Device device) const;

  // Of the queries [row, row + rows), whatever the order of the keys: from the first key slot that
  // any of them sees to the last. No columns where they see none. Kept nowhere.
  Tile tile(int64_t row, int64_t rows) const;

 private:
  struct Known;
  std::shared_ptr<Known> known_;
};

// What one mask shows of every pair of shards that is asked for, made once each. For one thread at
// a time.
class Visibilities {
 public:
  explicit Visibilities(Mask mask) : mask_(std::move(mask)) {}
  const Visibility& of(const Positions& queries, const Positions& keys);

 private:
  Mask mask_;
  std::vector<std::unique_ptr<Visibility>> made_;  // as many as a rank meets: P
};

}  // namespace ringcheck
