// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cp/worlds/communicator.h"

namespace ringcheck::parity {

// One transfer, as it was asked for.
struct Posting {
  std::vector<Message> sends, receives;
  Label label;
  bool is(const char* name) const;  // of its label
};

// In place of Communicator::transfer, on one rank.
using Transfer = std::function<Pending(Communicator& comm, Posting posting)>;

// All operations of `comm`, which must outlive it, with the transfers made another way. The ledger
// is the same.
std::unique_ptr<Communicator> with_transfer(Communicator& comm, Transfer transfer);

// transfer as it would have been.
Pending post(Communicator& comm, Posting posting);

}  // namespace ringcheck::parity
