// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "cp/device/held_back.h"
#include "cp/worlds/communicator.h"

namespace ringcheck::bench {

// Samples of passes of all ranks. One that was taken while the device of a rank was held back (held_back.h) is thrown
// away and taken again; as many as are wanted at most, then what comes is kept.
class Samples {
 public:
  Samples(Communicator& comm, int wanted) : comm_(comm), wanted_(wanted) {}

  // What `take`, told which it is, returns for each that is kept. Collective.
  template <class Take>
  auto of(const Take& take) {
    std::vector<std::invoke_result_t<Take, int>> kept;
    for (int again = wanted_; std::ssize(kept) < wanted_;) {
      auto sample = take(static_cast<int>(std::ssize(kept)));
      if (was_held_back() && again-- > 0) ++thrown_away_;
      else kept.push_back(std::move(sample));
    }
    return kept;
  }

  // Of all samples so far; nothing where no device says whether it is held back.
  std::optional<int64_t> thrown_away() const { return known_ ? std::optional(thrown_away_) : std::nullopt; }

 private:
  bool was_held_back() {
    const std::optional<bool> own = held_back(comm_.device());
    known_ = comm_.agree_max(int64_t{own.has_value()}) != 0;
    return comm_.agree_max(int64_t{own.value_or(false)}) != 0;
  }

  Communicator& comm_;
  int wanted_;
  int64_t thrown_away_ = 0;
  bool known_ = false;
};

}  // namespace ringcheck::bench
