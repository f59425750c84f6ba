// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "cp/operation.h"

namespace ringcheck {

// A wait passed its deadline.
class Timeout : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Another rank failed first; this one only follows.
class Abandoned : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What ended a world: the first rank that failed, and what it was doing.
class RankFailure : public std::runtime_error {
 public:
  RankFailure(int rank, const Operation& operation, bool hang, const std::string& what);
  int rank() const { return rank_; }
  const Operation& operation() const { return operation_; }
  bool hang() const { return hang_; }

 private:
  int rank_;
  Operation operation_;
  bool hang_;
};

}  // namespace ringcheck
