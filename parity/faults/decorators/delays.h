// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "parity/faults/decorators/subject.h"

namespace ringcheck::parity {

// The longest that the streams of a rank are held back at a time; each time is drawn anew.
struct Delays {
  std::chrono::microseconds computing{0};  // before each block is attended
  std::chrono::microseconds messages{0};   // before each message is copied
};

// Our subject under delays, with which every result must be the same, and with something changed
// that may not stand them.
struct Raced {
  std::function<Transfer(Communicator&)> transfers = {};
  std::function<std::shared_ptr<const AttentionKernel>(std::shared_ptr<const AttentionKernel>,
                                                       Communicator&)> kernel = {};
};
SharedSubject under_delays(Delays delays, Raced changed = {});

}  // namespace ringcheck::parity
