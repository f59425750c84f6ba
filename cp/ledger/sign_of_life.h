// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cp/ledger/ledger.h"

namespace ringcheck {

// While one lives, signs of life of this thread enter the current operation of the ledger once more, so
// that whoever observes it does not take long work for none. One a thread at a time counts, the last.
class Heard {
 public:
  explicit Heard(Ledger& ledger);
  ~Heard();
  Heard(const Heard&) = delete;
  Heard& operator=(const Heard&) = delete;

 private:
  Ledger* before_;
};

// Said by a kernel between steps of which one call may have hundreds, each with a graph to compile.
void sign_of_life();

}  // namespace ringcheck
