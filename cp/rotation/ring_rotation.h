// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cp/attention/rotation.h"

namespace ringcheck {

// Moves one block to the next rank of the ring and receives the one of the rank before.
using Hop = Pending (*)(Communicator& comm, const at::Tensor& send, const at::Tensor& receive,
                        Label label);

// A ring whose rotation and gradient carrier move blocks by this hop.
RotationEntry ring_by(Hop hop);

}  // namespace ringcheck
