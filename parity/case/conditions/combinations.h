// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "parity/case/conditions/condition.h"

namespace ringcheck::parity {

// Which conditions a case meets, and which of them are wanted together: every two values of two
// parts; a dangerous condition and a value of mask, balance, strategy, dtype or kernel, or one of
// the worst; one of the worst and two such values. A dangerous condition is met where it can be
// seen: by a case that tells (Facts).
class Combinations {
 public:
  explicit Combinations(Conditions conditions);

  const Conditions& conditions() const { return conditions_; }

  struct Met {
    std::vector<uint16_t> all;  // indices of conditions, ascending
    bool telling = false;
  };
  Met met_by(const Case& test) const;

  // Every pair and every triple of them that is wanted, each by a number of its own.
  size_t pairs() const { return conditions_.size() * conditions_.size(); }
  size_t triples() const { return pairs() * conditions_.size(); }
  void each_pair(const Met& met, const std::function<void(size_t)>& visit) const;
  void each_triple(const Met& met, const std::function<void(size_t)>& visit) const;

  // "CONDITION with CONDITION"
  std::string pair_text(size_t pair) const;

 private:
  Conditions conditions_;
  std::vector<bool> wanted_;   // by pair
  std::vector<bool> crossed_;  // a value of mask, balance, strategy, dtype or kernel
  std::vector<bool> quiet_;    // by pair: wanted also where a case does not tell
};

}  // namespace ringcheck::parity
