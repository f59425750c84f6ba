// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/rotation/ring_rotation.h"

namespace ringcheck {
namespace {

// A ring of paired sends and receives, double-buffered.
Pending send_right(Communicator& comm, const at::Tensor& send, const at::Tensor& receive,
                   Label label) {
  return comm.exchange(send, comm.right(), receive, comm.left(), label);
}

const Rotations::Add registered{"p2p", ring_by(send_right)};

}  // namespace
}  // namespace ringcheck
