// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "parity/judge/oracle.h"
#include "parity/subject/ours.h"

namespace ringcheck {

// Sends to one rank and receives as much from another, at once, by no communicator of the harness.
using Exchange =
    std::function<void(const at::Tensor& send, int to, const at::Tensor& receive, int from)>;

// Computes as ours does and moves its blocks by an exchange of its own, which is made on each rank;
// `extra` times a block of K and V more goes round outside the passes.
parity::SharedSubject moving_by(std::function<Exchange(Communicator&)> make, int extra,
                                std::function<void(parity::Promise&)> promise = {});

// What the oracle says of it. `outcome` is that of rank 0.
parity::OracleVerdict counters_of(const parity::Case& test, const parity::Subject& subject,
                                  const parity::Outcome& outcome);

// "rank 1 bytes sent outside the passes: 960, expected exactly 0": a block of K and V of the case.
std::string block_outside(const parity::Case& test, int rank);

}  // namespace ringcheck
